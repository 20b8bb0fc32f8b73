"""Every number that a user may change, with its unit. `config.toml` says the same in its own words; `config.py` reads it."""

from typing import Literal

import msgspec


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of config.toml."""


class RunSettings(Section, frozen=True):
    max_handoffs: int = 20
    max_seconds: float = 600.0
    agent_seconds: float = 300.0
    retries: int = 1
    cancel_seconds: float = 30.0


class ModelSettings(Section, frozen=True):
    provider: Literal["auto", "openai", "extractive"] = "auto"
    """`auto`: openai when a key or a base_url is set, else extractive."""
    name: str = "gpt-5-mini"
    base_url: str = ""
    api_key: str = ""
    call_seconds: float = 120.0
    tries: int = 3
    concurrency: int = 64
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    ticket_tokens: int = 200_000
    tool_calls: int = 4
    fallback: bool = True


class KnowledgeSettings(Section, frozen=True):
    folders: tuple[str, ...] = ()
    search_seconds: float = 10.0
    file_seconds: float = 10.0
    file_megabytes: float = 20.0
    passages: int = 8


class MemorySettings(Section, frozen=True):
    unconfirmed: Literal["same_text", "similar", "never"] = "same_text"
    lookup_seconds: float = 2.0


class StorageSettings(Section, frozen=True):
    folder: str = "task-data"


class ServerSettings(Section, frozen=True):
    host: str = "127.0.0.1"
    port: int = 8421
    token: str = ""
    max_runs: int = 10_000
    body_kilobytes: int = 256


class LogSettings(Section, frozen=True):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "console", "json"] = "auto"


class WorkerSettings(Section, frozen=True):
    processes: int = 2


class Settings(Section, frozen=True):
    run: RunSettings = RunSettings()
    model: ModelSettings = ModelSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    memory: MemorySettings = MemorySettings()
    storage: StorageSettings = StorageSettings()
    server: ServerSettings = ServerSettings()
    log: LogSettings = LogSettings()
    workers: WorkerSettings = WorkerSettings()
