"""What crosses the wire: requests, results, errors, limits, categories and profiles.

Pure values and rules. This package imports nothing else of headgate.
"""

PROTOCOL_VERSION = "1.0.0-draft"
