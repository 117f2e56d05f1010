"""The collection query language: fields, conditions, order, summaries and pages as values, and their meaning."""
