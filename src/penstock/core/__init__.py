"""The deterministic state machine: no socket, no file, no clock, no protocol name."""
