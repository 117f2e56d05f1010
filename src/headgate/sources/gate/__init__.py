"""Several sources behind one gate: what a configuration names, opened together, served as one adapter."""
