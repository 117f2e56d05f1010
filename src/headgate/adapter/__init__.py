"""What an adapter can do: its operations, their parameters and types, and introspection made from them."""
