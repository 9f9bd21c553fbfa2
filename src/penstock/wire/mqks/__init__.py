"""MQKS - Message Queue Kept Simple: one text line per request."""
