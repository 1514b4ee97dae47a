"""How the schema came to be what it is: one revision of Alembic for each released version, never changed afterwards."""
