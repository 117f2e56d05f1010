"""What adapter files are put together from: transports, protocols, serializations and authentication, by name."""
