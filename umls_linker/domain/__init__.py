"""Pure parts of concept linking: they know neither Django nor the disk."""
