"""A coverage-guided fuzzer over the sessions of all protocols. `sessions.py` states what must hold for any input."""
