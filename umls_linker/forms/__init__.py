"""What the pages of concept linking send, as typed values."""
