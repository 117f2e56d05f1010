"""The one way out over HTTP: whatever a source sends to an upstream leaves through here, and nowhere else."""
