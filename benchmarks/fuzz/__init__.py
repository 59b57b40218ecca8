"""Hostile exports: fuzzers that look for input which the readers, or the cleaning behind them, cannot take."""
