"""The error that is a sentence for the person who will read it."""


class Problem(Exception):
    """What failed, where, and what to do about it; never a value from a trace."""
