"""The log: every accepted change, written once, in order."""
