"""The court: referee, clock, rulings and records.  Sans-IO: it is asked and answered, it never waits or reads a clock."""
