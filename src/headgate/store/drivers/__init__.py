"""What runs transactions: SQLite on the event loop or in a thread of its own, and PostgreSQL in a few threads."""
