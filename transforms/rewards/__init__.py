"""What a trajectory was worth: components, their composition, and hard rules."""
