"""Spark SQL to algebra and back; the only package that parses or prints SQL."""
