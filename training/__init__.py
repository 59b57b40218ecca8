"""Policies from frozen releases; importable without Dagster.

`losses`, `logprobs`, `loop` and `reference` are about tensors and import torch where they start; everything else,
the programs included, imports them inside the functions that train, so that `--help` and the lake stay fast.
"""
