"""One class per table format: how its states and changes are read, how a commit is marked."""
