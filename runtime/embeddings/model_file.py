"""Where models are. Known without numpy, so that whoever only looks for it loads nothing."""

import os
from pathlib import Path

from runtime.settings import EmbeddingsSettings

FILE = "all-MiniLM-L6-v2.int8"


def models_folder(settings: EmbeddingsSettings) -> Path:
    """`[embeddings] folder`, or the cache of the user that this runs as: models are derived and can be had again."""
    if settings.folder:
        return Path(settings.folder)
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        try:
            cache = Path.home() / ".cache"
        except RuntimeError:  # a user of the system's, who has no home
            cache = Path("/var/cache")
    return cache / "terminus" / "models"


def find_model_file(settings: EmbeddingsSettings) -> Path:
    """The file of the built-in model, whether it is there or not."""
    return models_folder(settings) / FILE
