"""How many tokens a text really costs."""

from headgate.server.counting import exact_counter

__all__ = ["cost"]

cost = exact_counter().of_text
