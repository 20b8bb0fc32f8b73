"""What `doctor` looks at. Each check is short, bounded, and changes nothing."""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from runtime.agent_folder import load_roster
from runtime.cli.view.check_lines import Check
from runtime.config import ConfigError, is_loopback
from runtime.config_schema import PREFIX
from runtime.embeddings.provider_check import look_at_embeddings
from runtime.families import FAMILIES
from runtime.families.limits import configure_all
from runtime.knowledge import FILE as INDEX
from runtime.knowledge.index_check import look_at_index
from runtime.knowledge.readers.reader import GROUP, Reader
from runtime.kubernetes import service_variables
from runtime.llm.model_choice import chosen
from runtime.llm.server_check import OPENAI, look_at_server
from runtime.observe.logs import FILE
from runtime.plugins import find_plugins
from runtime.program import shipped_file
from runtime.search.source_registry import load_sources
from runtime.settings import ModelSettings, Settings
from runtime.storage.condition import free_megabytes
from runtime.storage.errors import StorageError
from runtime.storage.private import CHOOSE_ANOTHER, DATABASE
from runtime.storage.sqlite.integrity import REMEDY, describe_sqlite, examine, read_rows, version
from runtime.user_text import pluralize, redact

BUSY_SECONDS = 1.0
EXAMINE_SECONDS = 30.0
FREE_MEGABYTES = 200
RESEARCH = "pip install -e '.[research]'"
OWN_DOCUMENTS = "knowledge"
"""The source that is always there."""


def checks(settings: Settings, file: Path | None, *, reach: bool) -> list[Check]:
    """Everything, in the order in which a reader would ask."""
    folder = Path(settings.storage.folder)
    return [
        python(),
        sqlite(),
        configuration(file),
        workflows(settings),
        storage(folder),
        database(folder / DATABASE),
        memory(folder / DATABASE),
        Check("Knowledge", *look_at_index(folder / INDEX, settings.embeddings)),
        plugins(),
        Check("Meaning", *look_at_embeddings(settings, reach=reach)),
        model(settings.model),
        model_server(settings.model, reach=reach),
        web_search(settings),
        web_pages(),
        server(settings),
        log(settings),
        terminal(),
    ]


def python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check("Python", "ok", f"{version} at {sys.executable}")


def sqlite() -> Check:
    version, searches = describe_sqlite()
    if not searches:
        remedy = "Use a Python whose SQLite has FTS5, such as your distribution's or python.org's."
        return Check("SQLite", "problem", f"{version}, without full-text search", remedy)
    return Check("SQLite", "ok", f"{version} with full-text search (FTS5)")


def configuration(file: Path | None) -> Check:
    theirs = service_variables(os.environ)
    changed = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in theirs)
    besides = f", changed by {', '.join(changed)}" if changed else ""
    if theirs:
        besides += f"; not ours but Kubernetes', so passed over: {', '.join(theirs)}"
    found = (str(file.absolute()) if file else "defaults (no config.toml here)") + besides
    return Check("Configuration", "ok", found, f"All that can be set, and what it means: {shipped_file('config.toml')}")


def workflows(settings: Settings) -> Check:
    """Whether runs can end well under the limits that are set."""
    try:
        *others, last = configure_all(FAMILIES, settings, load_roster(settings))
    except ConfigError as error:
        return Check("Workflows", "problem", str(error), "Mend it in config.toml, or in the environment.")
    limits = settings.run
    found = f"{', '.join(others)} and {last}: at most {limits.max_handoffs} handoffs and {limits.max_seconds:g} s a run"
    return Check("Workflows", "ok", found)


def storage(folder: Path) -> Check:
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            free = free_megabytes(place) or 0
    except OSError as error:
        return Check("Storage", "problem", f"{folder.absolute()} cannot be written ({error.strerror})", CHOOSE_ANOTHER)
    made = "" if folder.exists() else ", made when it is first needed"
    found = f"{folder.absolute()}, {free:,} MB free{made}"
    if free < FREE_MEGABYTES:
        return Check("Storage", "warning", found, f"Free some disk space: under {FREE_MEGABYTES} MB tickets may fail.")
    return Check("Storage", "ok", found)


def database(file: Path) -> Check:
    sql = "SELECT (SELECT count(*) FROM ticket), count(*), count(*) FILTER (WHERE ended IS NULL) FROM run"
    rows = _read(file, sql)
    if isinstance(rows, str):
        return Check("Database", "problem", rows, REMEDY)
    if not rows:
        return Check("Database", "ok", "none yet; the first ticket makes it")
    tickets, runs, running = rows[0]
    found = f"{pluralize(tickets, 'ticket')}, {pluralize(runs, 'run')}, {running or 'none'} of them unfinished"
    try:
        damage = examine(file, "integrity_check", EXAMINE_SECONDS, read_only=True)
        found += f"; version {version(file)}"
    except TimeoutError:
        return Check("Database", "ok", f"{found}; not all of it was examined within {EXAMINE_SECONDS:g} s")
    except StorageError as error:
        damage = str(error)
    if damage:
        return Check("Database", "problem", f"{found}, but it is damaged: {damage}", REMEDY)
    return Check("Database", "ok", f"{found}, examined and sound")


def memory(file: Path) -> Check:
    rows = _read(file, "SELECT state, count(*) FROM remembered GROUP BY state")
    if isinstance(rows, str):
        return Check("Memory", "problem", rows, "See the database above.")
    counts = dict(rows)
    said = ", ".join(f"{counts.get(state, 0):,} {state}" for state in ("confirmed", "unconfirmed", "rejected"))
    return Check("Memory", "ok", f"{pluralize(sum(counts.values()), 'resolution')}: {said}")


def plugins() -> Check:
    """What others added, and whether it can be used."""
    found, broken = find_plugins(Reader, GROUP)
    said = "; ".join(f"{each.format} is read by {where}" for where, each in found) or "none"
    if broken:
        remedy = "Mend it, or take it out of [plugins] modules, or uninstall its package."
        return Check("Plugins", "warning", "; ".join([*broken, *([said] if found else [])]), remedy)
    return Check("Plugins", "ok", said)


def model(settings: ModelSettings) -> Check:
    """Who thinks, and why."""
    if chosen(settings) == "extractive":
        why = "no key and no base_url is set" if settings.provider == "auto" else "[model] provider says so"
        remedy = "For written answers set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own."
        return Check("Model", "ok", f"extractive: quotes documents, needs no network ({why})", remedy)
    where = redact(settings.base_url) or OPENAI
    reasons = {True: "[model] provider says so", False: "a key or a base_url is set"}
    found = f"{settings.name} at {where} ({reasons[settings.provider == 'openai']})"
    if "@" in urlsplit(settings.base_url).netloc:
        remedy = "Set it without, and the key as OPENAI_API_KEY."
        return Check("Model", "problem", f"{found}: [model] base_url holds a user name or a password", remedy)
    if not settings.api_key and not settings.base_url:
        return Check("Model", "problem", f"{found}, but no key", "Set OPENAI_API_KEY.")
    if importlib.util.find_spec("openai") is None:
        return Check("Model", "problem", f"{found}, but its SDK is not installed", "pip install 'openai[aiohttp]'")
    return Check("Model", "ok", f"{found}, key {'set' if settings.api_key else 'not set'}")


def model_server(settings: ModelSettings, *, reach: bool) -> Check:
    """Whether the model's server answers; with `reach`, whether its model does."""
    return Check("Model server", *look_at_server(settings, reach=reach))


def web_search(settings: Settings) -> Check:
    """Where research may search beside the own documents; nothing is contacted."""
    others = [source for name, source in load_sources().items() if name != OWN_DOCUMENTS]
    sources = [source for source in others if source.configured(settings)]
    if not sources:
        remedy = ", or ".join(source.remedy for source in others if source.remedy)
        remedy = f"{remedy[:1].upper()}{remedy[1:]}; helpdesk tickets need none."
        return Check("Web search", "ok", "none configured: research searches your documents only", remedy)
    found = "; ".join(source.found(settings) if source.found else source.title for source in sources)
    faults = [fault for source in sources if (fault := source.fault(settings))]
    faults += [(f"{source.module} is not installed", source.install) for source in sources if not source.is_installed]
    if faults:
        return Check("Web search", "warning", f"{found}; {faults[0][0]}", faults[0][1])
    return Check("Web search", "ok", found)


def web_pages() -> Check:
    """What reads web pages when Tavily does not."""
    lacking = [name for name in ("trafilatura", "protego") if importlib.util.find_spec(name) is None]
    if lacking:
        found = f"{' and '.join(lacking)} not installed, so web pages are read poorly or not at all"
        return Check("Web pages", "warning", found, RESEARCH)
    return Check("Web pages", "ok", "read by our own crawler: trafilatura and protego are installed")


def server(settings: Settings) -> Check:
    where = f"http://{settings.server.host}:{settings.server.port}"
    if settings.server.token or settings.server.proxy or not is_loopback(settings.server.host):
        who = "callers need a token" + (", or come by the proxy" if settings.server.proxy else "")
    else:
        who = "this machine only, without a token until `tokens create` makes one"
    return Check("Daemon", "ok", f"would listen on {where}, {who}")


def log(settings: Settings) -> Check:
    return Check("Log", "ok", f"{Path(settings.storage.folder, FILE).absolute()}, from {settings.log.level} up")


def terminal() -> Check:
    if importlib.util.find_spec("rich") is None:
        return Check("Live view", "warning", "rich is not installed", "pip install rich")
    return Check("Live view", "ok", "rich is installed")


def _read(file: Path, sql: str) -> list[Any] | str:
    """Rows, or what is wrong with the file; none when there is no file or table yet."""
    try:
        return read_rows(file, sql, BUSY_SECONDS)
    except StorageError as error:
        return f"{file} cannot be read: {error}"
