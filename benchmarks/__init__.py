"""How fast headgate is, and how many tokens it costs, side by side with what it is compared to."""
