"""Plays on the machines of a Ray cluster.

`engine` is the arena's side.  `driver` is a process beside it that speaks with Ray: what Ray prints, does to signals or
ends is not the arena's.  `node` is what Ray's processes do on every machine, `trip` what they are told.
"""
