"""Forms: what a browser sent, as typed values. What is allowed is decided by the services."""
