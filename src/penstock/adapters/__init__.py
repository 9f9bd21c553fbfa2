"""Penstock under what people already use: Celery by way of kombu, and dramatiq. Each is an extra of the package."""
