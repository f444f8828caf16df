"""Pages of concept linking, and what the workbench asks of it."""
