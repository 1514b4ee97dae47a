"""The hall: one use case a file.  The one room that knows all the others."""
