"""What a run leaves behind: the policy, training.json, a small plot, and a word to Dagster where it launched us."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

REPORT = "training.json"

PLOTTED = 100
"""Points of a line in a plot."""


def save_policy(model: Any, state: dict[str, Any], tokenizer: Any, out: Path) -> None:
    """Weights (safetensors), tokenizer and template. Without training.json, which comes last, they aren't finished."""
    (out / REPORT).unlink(missing_ok=True)
    model.save_pretrained(out, state_dict=state)
    tokenizer.save_pretrained(out)


def plot(curve: list[dict[str, float]], names: tuple[str, ...], path: Path) -> None:
    """Small multiples of a curve's metrics over the steps, means of at most PLOTTED bins; well under 30 kB."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    bins = min(len(curve), PLOTTED)
    figure = Figure(figsize=(2.6 * len(names), 2.2), dpi=80, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        parts = np.array_split([[entry["step"], entry[name]] for entry in curve], bins)
        axes.plot(*np.transpose([part.mean(axis=0) for part in parts]), linewidth=1)
        axes.set_title(name, fontsize=9)
        axes.tick_params(labelsize=7)
    canvas.draw()
    Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(16).save(path, optimize=True)


def remove_checkpoints(folder: Path) -> None:
    """Once the policy is saved, what only a resume would read."""
    shutil.rmtree(folder, ignore_errors=True)


def report_to_dagster(metadata: dict[str, str | int | float | None], version: str) -> None:
    """Report the asset that Dagster launched this process for; nothing where it did not."""
    if "DAGSTER_PIPES_CONTEXT" not in os.environ:
        return
    from dagster_pipes import open_dagster_pipes

    with open_dagster_pipes() as pipes:
        pipes.report_asset_materialization(metadata=metadata, data_version=version)
