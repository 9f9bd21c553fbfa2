"""The log of several machines, on a replicated stream."""
