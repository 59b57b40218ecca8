"""A release out of trajectories: the cut, its splits, preference pairs and rollouts."""
