"""Evidence bundles: what a server was seen to do, in one JSON file that anybody can judge again."""
