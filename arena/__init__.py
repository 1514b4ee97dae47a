"""The Sixty-Six Arena: one process referees the game, bots only choose, and the store is the truth."""

__version__ = "0.1.0"
