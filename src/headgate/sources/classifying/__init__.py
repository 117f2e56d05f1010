"""What a foreign tool does, told from its name, its words, its schema and what its server declares."""
