"""The networks that ship: how they are built and trained, their cards and their weights on disk."""
