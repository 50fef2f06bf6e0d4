"""Facts in, `RefreshPlan` out: strategy, statements and explanation of one refresh."""
