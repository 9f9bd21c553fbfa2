"""Adapters for other libraries: Celery (through kombu) and dramatiq. Each is an extra of the package."""
