"""Model settings of the `ivm` materialization, validated in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from dbt_ivm.errors import IvmError
from dbt_ivm.sources.formats import FORMATS
from dbt_ivm.sql.functions import Functions


class Refresh(Enum):
    """`ivm_refresh`: how a model may be refreshed."""

    AUTO = "auto"
    INCREMENTAL = "incremental"
    FULL = "full"


class OnUnsupported(Enum):
    """`ivm_on_unsupported`: what happens to SQL that cannot be maintained."""

    WARN = "warn"
    ERROR = "error"


class OnLargeChange(Enum):
    """`ivm_on_large_change`: what happens beyond `ivm_max_change_ratio`."""

    FULL = "full"
    INCREMENTAL = "incremental"
    ERROR = "error"


_Choice = TypeVar("_Choice", bound=Enum)


@dataclass(frozen=True)
class Settings:
    """Everything a model's config says about how its extent is kept."""

    refresh: Refresh = Refresh.AUTO
    on_unsupported: OnUnsupported = OnUnsupported.WARN
    max_change_ratio: float | None = None
    """Share of changed source rows beyond which a refresh is not what was meant."""
    on_large_change: OnLargeChange = OnLargeChange.FULL
    functions: Functions = field(default_factory=Functions)
    schema: str | None = None
    """Schema of the extent, where it is not the model's own."""
    catalog: str | None = None
    """Catalog of the extent, where it is not the model's own."""
    file_format: str = "delta"
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    location_root: str | None = None
    properties: tuple[tuple[str, str], ...] = ()

    def storage(self) -> dict[str, Any]:
        """What the model says about the table of its extent; another value needs another table."""
        told = {
            "file_format": self.file_format if self.file_format != "delta" else None,
            "partition_by": list(self.partition_by),
            "clustered_by": list(self.cluster_by),
            "location_root": self.location_root,
            "tblproperties": dict(self.properties),
        }
        return {key: value for key, value in told.items() if value}


def read_settings(config: Mapping[str, Any], model: str) -> Settings:
    """Check a model's config; a wrong value is an error that lists the allowed ones."""
    unknown = sorted(key for key in config if str(key).startswith("ivm_") and key not in _SETTINGS)
    if unknown:
        raise IvmError(
            f"Model {model}: unknown setting `{unknown[0]}`; dbt-ivm has {_listed(_SETTINGS)}."
        )
    file_format = (_name(config, "file_format", model) or "delta").lower()
    if file_format not in FORMATS:
        raise IvmError(
            f"Model {model}: file_format `{file_format}` cannot hold an ivm model;"
            f" allowed: {_listed(FORMATS)}. Remove the setting or use materialized='table'."
        )
    if config.get("buckets"):
        raise IvmError(
            f"Model {model}: `buckets` does not exist on Delta or Iceberg; on Delta use"
            " `clustered_by` alone for liquid clustering."
        )
    cluster_by = _names(config, "liquid_clustered_by", model) or _names(
        config, "clustered_by", model
    )
    if cluster_by and not FORMATS[file_format].can_cluster:
        raise IvmError(
            f"Model {model}: {file_format} tables cannot be clustered; remove `clustered_by`, or"
            " use `partition_by`."
        )
    return Settings(
        refresh=_choice(config, "ivm_refresh", Refresh.AUTO, model),
        on_unsupported=_choice(config, "ivm_on_unsupported", OnUnsupported.WARN, model),
        max_change_ratio=_share(config, "ivm_max_change_ratio", model),
        on_large_change=_choice(config, "ivm_on_large_change", OnLargeChange.FULL, model),
        functions=Functions(
            frozenset(n.lower() for n in _names(config, "ivm_deterministic_functions", model)),
            frozenset(n.lower() for n in _names(config, "ivm_aggregate_functions", model)),
        ),
        schema=_name(config, "ivm_schema", model),
        catalog=_name(config, "ivm_catalog", model),
        file_format=file_format,
        partition_by=_names(config, "partition_by", model),
        cluster_by=cluster_by,
        location_root=_name(config, "location_root", model, "a path"),
        properties=_properties(config, model),
    )


_SETTINGS = (
    "ivm_refresh",
    "ivm_on_unsupported",
    "ivm_max_change_ratio",
    "ivm_on_large_change",
    "ivm_deterministic_functions",
    "ivm_aggregate_functions",
    "ivm_schema",
    "ivm_catalog",
)


def _choice(config: Mapping[str, Any], key: str, default: _Choice, model: str) -> _Choice:
    value = config.get(key)
    if value is None:
        return default
    allowed = {member.value: member for member in type(default)}
    if not isinstance(value, str) or value.lower() not in allowed:
        raise IvmError(f"Model {model}: {key} is {value!r}; allowed: {_listed(allowed)}.")
    return allowed[value.lower()]


def _share(config: Mapping[str, Any], key: str, model: str) -> float | None:
    value = config.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise IvmError(f"Model {model}: {key} is {value!r}; allowed: a number in (0, 1].")
    return float(value)


def _names(config: Mapping[str, Any], key: str, model: str) -> tuple[str, ...]:
    value = config.get(key)
    names = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple | set) or not all(_is_name(name) for name in names):
        raise IvmError(f"Model {model}: {key} must be a name or a list of names, not {value!r}.")
    return tuple(names)


def _name(config: Mapping[str, Any], key: str, model: str, what: str = "a name") -> str | None:
    value = config.get(key)
    if value is not None and not _is_name(value):
        raise IvmError(f"Model {model}: {key} must be {what}, not {value!r}.")
    return value


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _properties(config: Mapping[str, Any], model: str) -> tuple[tuple[str, str], ...]:
    value = config.get("tblproperties")
    given = {} if value is None else value
    plain = (str, int, float)
    if not isinstance(given, Mapping) or not all(isinstance(v, plain) for v in given.values()):
        raise IvmError(
            f"Model {model}: tblproperties must map names to texts or numbers, not {value!r}."
        )
    return tuple((str(key), str(value)) for key, value in given.items())


def _listed(values: Any) -> str:
    return ", ".join(f"`{value}`" for value in values)
