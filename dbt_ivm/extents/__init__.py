"""What a model stores: how an extent is built, read by the view, and changed by a MERGE."""
