"""Reports of a run in every form that somebody may want to have."""
