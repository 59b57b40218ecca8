"""Credit: how fast it is, and how well it agrees with advantages that are known."""
