"""Where operations come from. Each source yields an adapter; none knows its sibling."""
