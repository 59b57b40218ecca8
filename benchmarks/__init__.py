"""Side-by-side runs against what a user would do instead; no test depends on them."""
