"""Fixtures that more than one test file asks for."""

from spark_sessions import connect, spark

__all__ = ["connect", "spark"]
