"""Benchmarks: seeded streams, queries, rivals and references; `python -m bench` prints the table."""
