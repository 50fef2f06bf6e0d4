"""Errors keep the words of Spark and lose the stack of the JVM."""

from __future__ import annotations

import pytest

from dbt_ivm.adapter.messages import message_of, without_stack


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[X] no.", "[X] no."),
        ("[X] no.\n\nJVM stacktrace:\na.b.C: x\n\tat a.b.C.d(C.scala:1)", "[X] no."),
        ("failed: [Y] bad row\n\tat a.b.C$.d(C.scala:1)\n\t... 3 more", "failed: [Y] bad row"),
        (
            "lost task: [Y] bad\n\tat a.B.c(B.java:2)\n\nDriver stacktrace:\nmore",
            "lost task: [Y] bad",
        ),
        (
            "[Z] near\n  at the end of input\n== SQL ==",
            "[Z] near\n  at the end of input\n== SQL ==",
        ),
    ],
)
def test_without_stack(text, left):
    assert without_stack(text) == left


class AnalysisException(Exception):
    """Named as pyspark's, which needs a JVM to be made."""


@pytest.mark.parametrize("plan", ["'Project [*]\n+- 'Relation x", "AlterColumns [a]\n+- Table x"])
def test_the_plan_is_left_out(plan):
    error = AnalysisException(f"[NOT_FOUND] no `x`.; line 1 pos 14;\n{plan}")
    assert message_of(error) == "[NOT_FOUND] no `x`.; line 1 pos 14"
