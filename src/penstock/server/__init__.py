"""Sockets, signals and timers: the only place that says async."""
