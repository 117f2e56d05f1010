"""Long work with a lifecycle (Spec 8.4): kept in the store, run in this process or by workers on many machines."""
