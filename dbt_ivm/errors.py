"""The two ways planning can say no: a construct without a rule, and a request that is wrong."""

from __future__ import annotations


class IvmError(Exception):
    """A mistake in a model or a setting; the message names the place and the way out."""


class Unsupported(Exception):
    """SQL that cannot be maintained incrementally; the message is the reason shown to the user."""

    def __init__(self, construct: str, where: str = "") -> None:
        self.construct = construct
        self.where = where
        super().__init__(f"{construct} in {where}" if where else construct)
