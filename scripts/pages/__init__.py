"""Pages that are made from the code, so that they cannot say anything else: `make pages` writes them anew.

A test compares what they would be with what they are.
"""
