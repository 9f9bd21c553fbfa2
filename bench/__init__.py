"""Measures Penstock beside real brokers: the same bytes, load generator and minutes for all. See README.md here."""
