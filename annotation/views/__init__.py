"""Pages and fragments for the browser."""
