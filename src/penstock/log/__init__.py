"""Where accepted changes are written down, in order, once."""
