"""What each agent did: spans become threads, steps and joined tool calls."""
