"""A shop with a schema of the same name in the Iceberg catalog."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.shop import Shop


@pytest.fixture
def iced(shop) -> Iterator[Shop]:
    shop.sql("create schema if not exists ice.{s}")
    yield shop
    for row in shop.sql("show tables in ice.{s}"):
        shop.sql(f"drop table ice.{{s}}.`{row['tableName']}`")
    shop.sql("drop schema ice.{s}")
