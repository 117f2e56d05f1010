"""The way of a request: decode, route, validate, gate, run, shape, encode."""
