"""What Spark has to say about an error, without the stack of the JVM."""

from __future__ import annotations

import re

_FRAME = re.compile(r"^\s+at \S.*\)$|^\s*\.\.\. \d+ (?:more|common frames omitted)$")
# Spark appends the plan it could not analyse; the root is an operator, quoted while unresolved.
_PLAN = re.compile(r";\n'?[A-Z]\w*\b.*", re.DOTALL)
_TAIL = re.compile(r"\n*(?:JVM stacktrace|Driver stacktrace):.*", re.DOTALL)


def message_of(error: BaseException) -> str:
    """The text of an error raised by pyspark or py4j."""
    java = getattr(error, "java_exception", None)
    if java is not None:
        return without_stack(str(java.toString()))
    text = getattr(error, "_desc", None) or str(error)
    if type(error).__name__ == "AnalysisException":
        text = _PLAN.sub("", text)
    return without_stack(text)


def without_stack(text: str) -> str:
    """The text up to the first stack trace, minus every frame of the JVM."""
    lines = _TAIL.sub("", text).splitlines()
    return "\n".join(line for line in lines if not _FRAME.match(line)).strip()
