"""The dbt side of dbt-ivm: plugin, connections, adapter methods."""
