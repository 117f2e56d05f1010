"""Autonomy evaluation: may an agent do what it says it is about to do (Spec 8.7)? Pure functions over values."""
