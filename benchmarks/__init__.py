"""TPC-H in a dbt project: what a refresh costs, side by side with what it replaces."""
