"""The live pages: the report of a run while it is played, to be looked at and nothing else.

Runs in a process of its own on the store, which it only reads: whatever spectators do, the arena knows nothing of them.
"""
