"""What dbt needs to know to load the adapter: classes, macros, the adapter it builds on."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.base import AdapterPlugin

from dbt_ivm.adapter.credentials import IvmCredentials
from dbt_ivm.adapter.impl import IvmAdapter


def _macros() -> Path:
    """`dbt_ivm/include` in a wheel, `macros/` in a checkout."""
    package = Path(__file__).resolve().parents[1]
    packed = package / "include"
    return packed if packed.is_dir() else package.parent / "macros"


Plugin = AdapterPlugin(
    adapter=IvmAdapter,  # type: ignore[arg-type]  # dbt's protocol fits no adapter, its own neither
    credentials=IvmCredentials,
    include_path=str(_macros()),
    dependencies=["spark"],
    project_name="dbt_ivm",
)
