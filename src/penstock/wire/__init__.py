"""One folder per protocol: translates bytes to broker calls and deliveries to bytes. No I/O."""
