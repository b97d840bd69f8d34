"""Fixtures that more than one test file asks for."""

from spark_sessions import connect, small_tasks, spark

__all__ = ["connect", "small_tasks", "spark"]
