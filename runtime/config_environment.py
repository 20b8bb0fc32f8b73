"""What environment variables say of the settings, and files that they name."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from runtime.config_schema import AGENTS, PREFIX, Key, keys, keys_of
from runtime.kubernetes import service_variables
from runtime.settings import ConfigError
from runtime.user_text import display, encodable, nearest

FILE_VARIABLE = "TERMINUS_CONFIG"
IN_FILE = "_FILE"
"""Behind the variable of a key or token: it names a file that holds it."""
USUAL = {
    "OPENAI_API_KEY": ("model", "api_key"),
    "OPENAI_BASE_URL": ("model", "base_url"),
    "TAVILY_API_KEY": ("tavily", "api_key"),
}
"""Variables that other programs read too; empty means not set."""


class Given(NamedTuple):
    """A value, where it was given (looked for only when it is refused), and the folder that a relative path means."""

    value: Any  # whatever TOML or the environment holds; `_convert` types it
    place: Callable[[], str]
    base: Path | None = None


def read_environment(environ: Mapping[str, str]) -> Iterator[tuple[tuple[str, str], Given]]:
    """
    Each setting that a variable gives, the later of two the one that holds.

    :raises ConfigError: a variable sets nothing, or its text or file cannot be read.
    """
    for variable, at in USUAL.items():
        if (value := environ.get(variable)) and encodable(value):
            yield at, Given(value, partial(_variable, variable))
    known = {key.variable: key for key in keys().values()}
    for variable in sorted({*environ} - {*service_variables(environ)}):
        if not variable.startswith(PREFIX) or variable == FILE_VARIABLE:
            continue
        if (key := known.get(variable.removesuffix(IN_FILE))) and key.secret and variable.endswith(IN_FILE):
            secret = _read_secret(variable, environ[variable])
            yield (key.section, key.name), Given(secret, partial(_variable, variable))
            continue
        key = known.get(variable) or _find_agent_key(variable)
        if key is None:
            near = nearest(variable, {*known, FILE_VARIABLE})
            raise ConfigError(f"The environment variable {variable} sets nothing. {near}")
        if not encodable(environ[variable]):
            raise ConfigError(f"{_variable(variable)} is not UTF-8 text. Set it anew on a terminal that uses UTF-8.")
        yield (key.section, key.name), Given(_parse(key, environ[variable]), partial(_variable, variable))


def _read_secret(variable: str, file: str) -> str:
    """What a file holds, as containers and systemd hand over keys: without the line's end that editors put there."""
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f"{_variable(variable)} names {display(file)}, which cannot be read ({reason}). Let the user of this "
            "process read it, or name another file."
        ) from None


def _find_agent_key(variable: str) -> Key | None:
    """The setting of one agent, as `TERMINUS_AGENTS_WORKER_SECONDS` names it."""
    agent, _, name = variable.removeprefix(f"{PREFIX}{AGENTS.upper()}_").lower().rpartition("_")
    if not agent or not variable.startswith(f"{PREFIX}{AGENTS.upper()}_"):
        return None
    return keys_of(f"{AGENTS}.{agent}").get(name)


def _variable(name: str) -> str:
    return f"The environment variable {name}"


def _parse(key: Key, text: str) -> Any:
    """A variable's text as TOML would have given it; what cannot be read stays text and is refused as such."""
    if isinstance(key.type, inspect.VarTupleType):
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(key.type, inspect.DictType):
        pairs = (part.partition("=") for part in text.split(",") if part.strip())
        return {name.strip(): value.strip() for name, _, value in pairs}
    text = text if key.secret else text.strip()
    if not isinstance(key.type, inspect.IntType | inspect.FloatType | inspect.BoolType):
        return text
    try:
        return msgspec.convert(text, _NUMBERS[type(key.type)], strict=False)
    except msgspec.ValidationError:
        return text


_NUMBERS: dict[type[inspect.Type], type] = {inspect.IntType: int, inspect.FloatType: float, inspect.BoolType: bool}
