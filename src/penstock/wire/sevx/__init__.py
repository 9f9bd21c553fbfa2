"""SEVX - Simple EVent eXchange: one line of text per request, with JSON; queues are bound by patterns."""
