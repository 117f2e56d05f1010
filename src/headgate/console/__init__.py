"""The operator's console: a web page where a person sees what agents do, and decides what they must not do alone."""
