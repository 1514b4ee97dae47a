"""The examination of one bot (`arena check`): the list of checks, and what tries them."""
