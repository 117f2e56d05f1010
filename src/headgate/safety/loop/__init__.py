"""The safety loop: agents report what they are about to do, and persons decide what no agent may alone (Spec 8.6)."""
