"""SMQS: queues by name, push to consumers, acknowledgement by count."""
