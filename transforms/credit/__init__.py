"""Which step earned or lost the outcome, one file a method."""
