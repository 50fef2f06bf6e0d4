"""Immutable relational algebra: what a model is, independent of how it is written or refreshed."""
