"""A database as a source: reached straight through its driver, without an ORM."""
