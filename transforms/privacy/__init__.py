"""Personal data and secrets out of text, and the proof that they are."""
