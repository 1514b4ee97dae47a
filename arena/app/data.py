"""What the data folder holds, and under which names."""

RUNS = "runs"
"""The folder of the runs' folders, beside the store."""
STORE = "arena.db"
