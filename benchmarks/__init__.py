"""Measurements of the portal as it runs: see README.md here."""
