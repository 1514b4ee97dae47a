"""Engines play tasks: where and how the bots of a block run."""
