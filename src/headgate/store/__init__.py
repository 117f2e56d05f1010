"""What must outlast a request: records, counted use, and the audit. In memory, in one SQLite file, or in PostgreSQL."""
