"""OpenAPI documents: every operation that one describes becomes an operation of an adapter."""
