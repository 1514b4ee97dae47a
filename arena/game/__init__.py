"""The rules of the Sixty-Six family: rules as data, one deal, views, notation, solver.  Pure: no I/O, no randomness."""
