"""The assets of the graph, one file a group."""
