"""What the arena costs, measured: `make bench` prints one JSON object.

Seconds mean little on a shared machine, so that costs are compared within one run: with a bare loop, with a bare
gRPC echo, with the same matches played inside the process.
"""
