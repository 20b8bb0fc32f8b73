"""
Reads `config.toml`, lets environment variables override it, and refuses what it does not know, with the place.

Order, the later wins: defaults, the file, `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `TAVILY_API_KEY`, then
`TERMINUS_<SECTION>_<KEY>`, of secrets also `TERMINUS_<SECTION>_<KEY>_FILE`.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import msgspec
from msgspec import inspect

from runtime.config_environment import FILE_VARIABLE, Given, read_environment
from runtime.config_schema import AGENTS, Key, describe_type, keys_of, sections, type_of
from runtime.settings import ConfigError as ConfigError
from runtime.settings import ServerSettings, Settings
from runtime.user_text import display, nearest, place

FILE_NAME = "config.toml"
FILE_BYTES = 262_144
REQUEST_KEYS = frozenset({
    "model", "messages", "response_format", "tools", "stream", "max_tokens", "max_completion_tokens", "n",
})  # fmt: skip
"""What a request to a model's server has anyway."""
TOKEN_CHARACTERS = 16
"""Fewer can be guessed by who may try all night."""


def load(path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """
    The settings of this process.

    :param path: the file; without it `TERMINUS_CONFIG`, or `config.toml` of the working directory if there is one.
    :raises ConfigError: with a sentence for the user.
    """
    environ = os.environ if environ is None else environ
    file = find(path, environ)
    given = dict(_from_file(file)) if file else {}
    given.update(read_environment(environ))
    tables: dict[str, dict[str, Any]] = {section: {} for section in sections()}
    for (section, name), each in given.items():
        top, _, agent = section.partition(".")
        table = tables[top].setdefault("limits", {}).setdefault(agent, {}) if agent else tables[top]
        table[name] = _convert(keys_of(section)[name], each)
    settings = msgspec.convert(tables, Settings)
    _check_together(settings, given)
    return settings


def find(path: str | Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file to read, or None where defaults do."""
    if path is not None:
        if not str(path).strip():
            raise ConfigError("--config names no file. Name one, or leave it away for config.toml here.")
        return Path(path)
    if named := environ.get(FILE_VARIABLE):
        return Path(named)
    return here if (here := Path(FILE_NAME)).is_file() else None


def _from_file(file: Path) -> Iterator[tuple[tuple[str, str], Given]]:
    text = _read(file)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        raise ConfigError(f"{file} is not valid TOML: {said[:1].lower()}{said[1:]}.") from None
    known = set(sections())
    for section, table in data.items():
        if section not in known:
            raise ConfigError(
                f"{place(file, text, section)}: there is no section [{section}]. {nearest(section, known)}"
            )
        if not isinstance(table, dict):
            raise ConfigError(
                f"{place(file, text, section)}: [{section}] must be a table: a line of its own, keys below."
            )
        own = {name: each for name, each in table.items() if section == AGENTS and isinstance(each, dict)}
        yield from _from_table(file, text, section, {name: each for name, each in table.items() if name not in own})
        for agent, limits in own.items():
            yield from _from_table(file, text, f"{section}.{agent}", limits)


def _from_table(file: Path, text: str, section: str, table: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Given]]:
    for name, value in table.items():
        where = partial(place, file, text, section, name)
        if name not in keys_of(section):
            raise ConfigError(f"{where()}: [{section}] has no key {name!r}. {_find_remedy(section, name)}")
        yield (section, name), Given(value, where, file.parent)


def _find_remedy(section: str, name: str) -> str:
    """Where a setting of an agent stands since each has a table of its own; else the nearest key that there is."""
    agent, _, key = name.rpartition("_")
    if section == AGENTS and agent and key in keys_of(f"{AGENTS}.{agent}"):
        return f"Write `{key}` in a table of its own, [{AGENTS}.{agent}]."
    return nearest(name, keys_of(section))


def _read(file: Path) -> str:
    remedy = f"Name another file with --config or {FILE_VARIABLE}, or none for the defaults"
    try:
        if file.is_dir():
            raise ConfigError(f"The configuration {file} is a folder. {remedy}.")
        with file.open("rb") as stream:
            content = stream.read(FILE_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"There is no configuration file {file}. {remedy}.") from None
    except OSError as error:
        raise ConfigError(f"The configuration file {file} cannot be read ({error.strerror}). {remedy}.") from None
    if len(content) > FILE_BYTES:
        raise ConfigError(f"The configuration file {file} is over {FILE_BYTES // 1024} KB. {remedy}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}, line {line} is not UTF-8 text. Save the file as UTF-8.") from None


def _convert(key: Key, given: Given) -> Any:
    """The value if it may stand there, folders made absolute where the file that names them is known."""
    try:
        section = msgspec.convert({key.name: given.value}, type_of(key.section).cls)
    except msgspec.ValidationError:
        _refuse(key, given)
    value = getattr(section, key.name)
    if not key.folder:
        return value
    if value == "":
        return value  # none, where there may be none
    if not all(folder.strip() for folder in (value if isinstance(value, tuple) else (value,))):
        _refuse(key, given)  # of a blank name the file system would make the folder that one stands in
    return [_anchor(each, given.base) for each in value] if isinstance(value, tuple) else _anchor(value, given.base)


def _refuse(key: Key, given: Given) -> NoReturn:
    value = "what is given" if key.secret else display(given.value)
    near = ""
    if isinstance(key.type, inspect.LiteralType) and isinstance(given.value, str):
        near = nearest(given.value, {str(each) for each in key.type.values}, else_all=False)
    sentence = f"{given.place()}: [{key.section}] {key.name} must be {describe_type(key.type)}, not {value}."
    raise ConfigError(f"{sentence} {near}".rstrip())


def _anchor(folder: str, base: Path | None) -> str:
    path = Path(folder).expanduser()
    return str(path if base is None else base / path)


def _check_together(settings: Settings, given: Mapping[tuple[str, str], Given]) -> None:
    """Rules over more than one setting."""
    _check_access(settings.server, given)
    urls = (("model", "base_url", settings.model.base_url), ("embeddings", "base_url", settings.embeddings.base_url))
    for section, name, url in (*urls, ("trace", "otlp", settings.trace.otlp)):
        if url and not _is_web(url):
            where, port = given[section, name].place(), "4318" if name == "otlp" else "11434/v1"
            raise ConfigError(
                f"{where}: [{section}] {name} must be an address that begins with http:// or https://, such as "
                f"http://127.0.0.1:{port}, not {display(url.rpartition('@')[2])}."
            )
    if (problem := _find_extra_problem(settings.model.extra)) is not None:
        where = given["model", "extra"].place()
        raise ConfigError(f"{where}: [model] extra {problem}.")
    if settings.embeddings.provider == "server" and not settings.embeddings.model:
        where = given["embeddings", "provider"].place()
        raise ConfigError(f'{where}: [embeddings] provider "server" needs [embeddings] model, the model\'s name there.')
    if (bad := next((each for each in settings.fetch.allow if not _is_network(each)), None)) is not None:
        where = given["fetch", "allow"].place()
        raise ConfigError(f"{where}: [fetch] allow lists networks, such as 127.0.0.0/8, and {display(bad)} is none.")


def _check_access(server: ServerSettings, given: Mapping[tuple[str, str], Given]) -> None:
    """Who may use the daemon. Whether there are tokens besides is only known once it has its storage folder."""
    if server.token and len(server.token) < TOKEN_CHARACTERS and not is_loopback(server.host):
        where = given["server", "host"].place()
        raise ConfigError(
            f"{where}: [server] host {display(server.host)} is reachable from other machines, which needs a token "
            f"of at least {TOKEN_CHARACTERS} characters: set [server] token or TERMINUS_SERVER_TOKEN to a longer one, "
            'or leave host at "127.0.0.1".'
        )
    if (bad := next((each for each in server.proxy if not _is_network(each) or each.endswith("/0")), None)) is not None:
        where = given["server", "proxy"].place()
        raise ConfigError(
            f"{where}: [server] proxy lists addresses of proxies, or small networks of theirs, such as 10.0.0.5, and "
            f"{display(bad)} is none."
        )
    if server.proxy and not server.roles:
        where = given["server", "proxy"].place()
        raise ConfigError(
            f'{where}: [server] proxy needs [server] roles, which say what its users may do: {{ "*" = "submit" }} is '
            "for all of them."
        )


def _find_extra_problem(text: str) -> str | None:
    """What is wrong with parameters of the user's own for a model's server."""
    try:
        extra = msgspec.json.decode(text or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return """must be a JSON object, such as '{"temperature": 0.2}'"""
    ours = next((name for name in extra if name in REQUEST_KEYS), None)
    return ours and f"cannot set {display(ours)}: Terminus does, by itself or by another key of [model]"


def _is_web(url: str) -> bool:
    try:
        return urlsplit(url).scheme in {"http", "https"} and bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _is_network(text: str) -> bool:
    import ipaddress  # as below

    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    if host == "localhost":
        return True
    import ipaddress  # costs 2 ms, and most never get here

    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
