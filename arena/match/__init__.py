"""The court: referee, clock, rulings and records.  Sans-IO: asked and answered, it neither waits nor reads a clock."""
