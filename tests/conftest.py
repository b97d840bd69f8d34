"""Fixtures that more than one test file asks for."""

from built_site import site
from spark_sessions import connect, small_tasks, spark

__all__ = ["connect", "site", "small_tasks", "spark"]
