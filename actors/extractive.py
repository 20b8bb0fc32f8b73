"""The model without key and network: rules and verbatim quotes, deterministic and cheap."""

import importlib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from actors.ports import Completion, ModelFailed, ModelRequest

T = TypeVar("T", bound=msgspec.Struct)


class Extractive:
    """
    `actors.ports.Model`, by the answers that families give without a model.

    :param modules: for each output schema the module whose `ANSWERS` has a function for it; loaded with the first one.
    """

    def __init__(self, modules: Mapping[Any, str]) -> None:
        self._modules = modules

    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:  # noqa: ARG002 - it does not wait
        """
        Answer with rules and quotes only.

        :raises ModelFailed: for a shape that needs a model that writes.
        """
        if shape not in self._modules:
            raise ModelFailed(
                f"Without a model there is no {shape.__name__}: set OPENAI_API_KEY, or [model] base_url in config.toml."
            )
        answers = importlib.import_module(self._modules[shape]).ANSWERS
        filled: Completion = answers[shape](task)
        return filled
