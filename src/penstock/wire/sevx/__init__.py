"""SEVX - Simple EVent eXchange: one text line per request, JSON in it, queues bound by patterns."""
