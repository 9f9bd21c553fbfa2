"""Measures Penstock against other brokers: same bytes, same load generator, interleaved rounds. See README.md here."""
