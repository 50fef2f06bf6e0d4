"""What each aggregate stores, how a change combines with it, and how its value is finished."""
