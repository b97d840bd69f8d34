"""Hits of iterations whose filters ask for at least so many events, values or distinct values."""
