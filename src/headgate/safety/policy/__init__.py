"""What an operator rules: who may do what, when it must be confirmed, and how much of it there may be."""
