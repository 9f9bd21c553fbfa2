"""HTTP: health, metrics, the API, and the console, on the broker's event loop."""
