"""`make ui`: Dagster's web page over this home, with its schedule and sensors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from assets.mill import open_mill
from pipelines.runs import prepare_instance


def main() -> None:
    """Replace this process by `dagster dev`, with DAGSTER_HOME below the home."""
    prepare_instance(open_mill().home)
    dagster = str(Path(sys.executable).with_name("dagster"))
    os.execv(dagster, [dagster, "dev", "-m", "pipelines.definitions"])


if __name__ == "__main__":
    main()
