"""What writes: every change goes through one of these functions, whoever asks for it."""
