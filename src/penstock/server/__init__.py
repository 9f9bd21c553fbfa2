"""Sockets, signals and timers: runs the broker on asyncio."""
