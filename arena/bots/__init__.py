"""Bots as programs: what a bot is, how its process starts, and that nothing of it stays behind.

Siblings of this room (tournament, ratings, store) are never imported here.
"""
