"""Incremental view maintenance for dbt on Spark."""

__version__ = "0.1.0"
