"""Canonical concepts for medical values. Empty so far; it may import `annotation`, never the reverse."""
