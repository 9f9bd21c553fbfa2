"""One folder per protocol: bytes in, verbs of the core; deliveries of the core, bytes out. No I/O."""
