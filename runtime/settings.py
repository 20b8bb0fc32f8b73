"""Every number a user may change, with its bounds. `config.toml` says the same in plain words; `config.py` reads it."""

import importlib.util
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Secret = Annotated[str, Meta(max_length=4096, extra={"secret": True})]
"""Never shown, never logged."""
Folder = Annotated[str, Meta(min_length=1, max_length=4096, extra={"folder": True})]
"""A relative one in a file is meant from that file's folder, elsewhere from the working directory."""
Text = Annotated[str, Meta(max_length=4096)]

HeaderName = Annotated[str, Meta(max_length=100, pattern=r"^[A-Za-z][A-Za-z0-9-]*$")]
DAY = 86_400.0
"""Seconds."""


class ConfigError(Exception):
    """The configuration cannot be used. One sentence: where, what, and what is allowed."""


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of config.toml."""


class RunSettings(Section, frozen=True):
    max_handoffs: Annotated[int, Meta(ge=11, le=20)] = 20
    """
    Twenty is what every user is promised: a configuration can only be stricter.

    The longest way through any of our tables on which all goes well takes eleven: with fewer, no run could end so.
    """
    max_seconds: Annotated[float, Meta(ge=1.0, le=600.0)] = 600.0
    """Ten minutes are promised, too."""
    agent_seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 300.0
    retries: Annotated[int, Meta(ge=0, le=10)] = 1
    cancel_seconds: Annotated[float, Meta(ge=0.0, le=600.0)] = 30.0
    ticket_kilobytes: Annotated[int, Meta(ge=1, le=65_536)] = 256
    side_by_side: Annotated[int, Meta(ge=1, le=256)] = 8


class AgentSettings(Section, frozen=True):
    """`[agents.NAME]`: what is set for one agent, where it differs from its file and from what holds for all."""

    seconds: Annotated[float, Meta(ge=0.0, le=600.0)] = 0.0
    """0: not set."""
    retries: Annotated[int, Meta(ge=-1, le=10)] = -1
    """-1: not set."""
    model: Annotated[str, Meta(max_length=200)] = ""
    """Empty: not set."""


class AgentsSettings(Section, frozen=True):
    folder: Annotated[str, Meta(max_length=4096, extra={"folder": True})] = ""
    """Specialists of the user's own; empty: none."""
    tools: Annotated[str, Meta(max_length=4096, extra={"folder": True})] = ""
    """A Python file with tools of the user's own; empty: none."""
    organisation: Annotated[str, Meta(max_length=200)] = ""
    tone: Annotated[str, Meta(max_length=200)] = ""
    instructions: Annotated[str, Meta(max_length=2000)] = ""
    """Rules of the house, for every agent that a model thinks for."""
    limits: dict[str, AgentSettings] = {}
    """By name; a table `[agents.NAME]` each."""


class HelpdesksSettings(Section, frozen=True):
    folder: Annotated[str, Meta(max_length=4096, extra={"folder": True})] = "helpdesks"
    """A file for each connected helpdesk; absent: there are none."""


class DocumentsSettings(Section, frozen=True):
    templates: Annotated[str, Meta(max_length=4096, extra={"folder": True})] = ""
    """A folder of the user's own; empty: only those that ship."""


class ModelSettings(Section, frozen=True):
    provider: Literal["auto", "openai", "extractive"] = "auto"
    """`auto`: openai when a key or a base_url is set, else extractive."""
    name: Annotated[str, Meta(min_length=1, max_length=200)] = "gpt-5-mini"
    base_url: Text = ""
    api_key: Secret = ""
    call_seconds: Annotated[float, Meta(ge=0.1, le=3600.0)] = 120.0
    """One call with all its tries."""
    tries: Annotated[int, Meta(ge=1, le=10)] = 3
    pause_seconds: Annotated[float, Meta(ge=0.0, le=600.0)] = 15.0
    """How long nothing is asked of a server that refused the connection or the key three times in a row."""
    concurrency: Annotated[int, Meta(ge=1, le=4096)] = 64
    requests_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    tokens_per_minute: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    ticket_tokens: Annotated[int, Meta(ge=0, le=100_000_000)] = 200_000
    answer_tokens: Annotated[int, Meta(ge=256, le=1_000_000)] = 16_000
    """The most tokens of one answer, thinking included."""
    context: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """Tokens that the model takes, question and answer together; 0: unknown."""
    material_characters: Annotated[int, Meta(ge=100, le=10_000_000)] = 40_000
    """The most characters that are shown of one piece of material or one passage."""
    tool_calls: Annotated[int, Meta(ge=0, le=64)] = 4
    extra: Text = ""
    """A JSON object: what is sent with every request besides."""
    fallback: bool = True
    second_reading: bool = True
    """The model reads each statement of an answer once more, beside its quote; without, nothing is `resolved`."""
    price_in: Annotated[float, Meta(ge=0.0, le=10_000.0)] = 0.0
    """Of a million tokens, in the currency of [research] money; 0: not counted."""
    price_out: Annotated[float, Meta(ge=0.0, le=10_000.0)] = 0.0


class KnowledgeSettings(Section, frozen=True):
    folders: tuple[Folder, ...] = ()
    uploads: Annotated[str, Meta(max_length=4096, extra={"folder": True})] = ""
    """Where documents are kept that come over HTTP, which is read as `folders` are; empty: none are taken."""
    search_seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 10.0
    file_seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 60.0
    file_megabytes: Annotated[float, Meta(ge=0.001, le=1024.0)] = 20.0
    passages: Annotated[int, Meta(ge=1, le=50)] = 8
    wait_seconds: Annotated[float, Meta(ge=0.0, le=86_400.0)] = 600.0
    """How long one indexing waits for another to end."""


class PluginsSettings(Section, frozen=True):
    modules: tuple[Folder, ...] = ()
    """Python files with what the user adds: readers."""


class EmbeddingsSettings(Section, frozen=True):
    provider: Literal["auto", "builtin", "server", "multilingual", "none"] = "auto"
    """`auto`: the built-in model where it is installed, else none."""
    model: Annotated[str, Meta(max_length=200)] = ""
    """Of a server; the others have one each."""
    base_url: Text = ""
    """Empty: the model's server, with the model's key."""
    api_key: Secret = ""
    folder: Annotated[str, Meta(max_length=4096, extra={"folder": True})] = ""
    """Of models; empty: the user's cache."""
    query_prefix: Annotated[str, Meta(max_length=200)] = ""
    passage_prefix: Annotated[str, Meta(max_length=200)] = ""
    batch: Annotated[int, Meta(ge=1, le=2048)] = 32
    """Texts that a server is sent at once."""
    seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 60.0
    """One batch of texts, with its tries."""


class MemorySettings(Section, frozen=True):
    unconfirmed: Literal["same_text", "similar", "never"] = "same_text"
    lookup_seconds: Annotated[float, Meta(ge=0.01, le=60.0)] = 2.0
    false_hits: Annotated[float, Meta(ge=0.0, le=0.5)] = 0.01
    """
    Share of tickets whose answer was never stored which may be answered from memory, as rehearsed.

    What a rehearsal says is never exact: bench.memory measures 1.5 % on banking77 and 0.6 % on clinc150.
    """
    learn_after: Annotated[int, Meta(ge=1, le=1_000_000)] = 50
    """New tickets and verdicts before memory learns again; at least a tenth of what it knows."""
    learn_seconds: Annotated[float, Meta(ge=1.0, le=DAY)] = 3600.0


class ResearchSettings(Section, frozen=True):
    breadth: Annotated[int, Meta(ge=1, le=20)] = 5
    depth: Annotated[int, Meta(ge=1, le=5)] = 2
    sources: tuple[Text, ...] = ()
    """Names as in `--sources`; empty: all that are configured."""
    round_seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 15.0
    """For reading the pages of one round; each page has its own limit in [fetch]."""
    report_seconds: Annotated[float, Meta(ge=0.0, le=300.0)] = 30.0
    """Held back from deeper rounds and from the other agents, for the report."""
    pages: Annotated[int, Meta(ge=0, le=10_000)] = 100
    """Budget of one research, as are the three below; 0: no limit."""
    credits: Annotated[int, Meta(ge=0, le=1_000_000)] = 100
    money: Annotated[float, Meta(ge=0.0, le=1_000_000.0)] = 0.0
    report_share: Annotated[float, Meta(ge=0.0, le=0.9)] = 0.2
    """Of the tokens and the money: held back for the report."""
    backup_seconds: Annotated[float, Meta(ge=0.1, le=3600.0)] = 30.0


class TavilySettings(Section, frozen=True):
    api_key: Secret = ""
    keyless: bool = False
    """Without a key the client sends queries all the same: only when this says so."""
    base_url: Text = ""
    search_depth: Literal["basic", "advanced"] = "basic"
    seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 15.0
    concurrency: Annotated[int, Meta(ge=1, le=100)] = 5
    requests_per_minute: Annotated[int, Meta(ge=0, le=100_000)] = 100


class DuckduckgoSettings(Section, frozen=True):
    enabled: bool = False
    seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 15.0
    requests_per_minute: Annotated[int, Meta(ge=0, le=100_000)] = 20


class FeedsSettings(Section, frozen=True):
    urls: tuple[Text, ...] = ()
    seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 15.0


class FetchSettings(Section, frozen=True):
    concurrency: Annotated[int, Meta(ge=1, le=100)] = 8
    per_host: Annotated[int, Meta(ge=1, le=20)] = 2
    page_seconds: Annotated[float, Meta(ge=0.1, le=600.0)] = 30.0
    page_megabytes: Annotated[float, Meta(ge=0.01, le=100.0)] = 5.0
    original_megabytes: Annotated[float, Meta(ge=0.0, le=100.0)] = 1.0
    """Packed. 0: none is kept."""
    redirects: Annotated[int, Meta(ge=0, le=20)] = 5
    robots: bool = True
    allow: tuple[Text, ...] = ()
    """Networks beside the public ones, such as 127.0.0.0/8, on any port."""
    agent: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[\x20-\x7e]+$")] = "Terminus/0.1"


class StorageSettings(Section, frozen=True):
    folder: Folder = "task-data"
    keep_days: Annotated[float, Meta(ge=0.0, le=36_500.0)] = 0.0
    """How long a ticket is kept after its end; 0: for ever."""
    check_seconds: Annotated[float, Meta(ge=0.0, le=600.0)] = 3.0
    """How long the database is examined at a start after a crash; 0: not at all."""


class ServerSettings(Section, frozen=True):
    host: Annotated[str, Meta(min_length=1, max_length=253)] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8421
    token: Secret = ""
    max_runs: Annotated[int, Meta(ge=1, le=1_000_000)] = 10_000
    body_kilobytes: Annotated[int, Meta(ge=1, le=65_536)] = 256
    max_connections: Annotated[int, Meta(ge=1, le=1_000_000)] = 16_384
    max_streams: Annotated[int, Meta(ge=0, le=1_000_000)] = 1_000
    stop_seconds: Annotated[float, Meta(ge=0.0, le=600.0)] = 5.0
    stall_seconds: Annotated[float, Meta(ge=1.0, le=3600.0)] = 60.0
    """A process whose event loop stands still for longer is not alive for whoever asks."""
    free_megabytes: Annotated[int, Meta(ge=0, le=1_000_000)] = 50
    """With less on the disk it says that it is not ready."""
    requests_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 6_000
    """Of each token and each person, and of each address that opens links; 0: as many as come."""
    request_burst: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000
    failed_logins: Annotated[int, Meta(ge=0, le=10_000)] = 10
    """A minute and an address; 0: as many as come."""
    hosts: tuple[Annotated[str, Meta(min_length=1, max_length=253)], ...] = ()
    """Under which names it is asked; empty: any, once it is known who asks."""
    proxy: tuple[Annotated[str, Meta(min_length=1, max_length=100)], ...] = ()
    """Addresses or networks whose word on who asks is taken."""
    user_header: HeaderName = "X-Forwarded-User"
    groups_header: HeaderName = "X-Forwarded-Groups"
    roles: dict[str, Literal["submit", "read", "operate", "admin"]] = {}
    """By group of the proxy's users; `*`: everybody that it lets through."""
    submit_reads: Literal["own", "all"] = "own"
    """Which tickets the role `submit` reads; with `all` it is as good as `read`."""
    share_days: Annotated[float, Meta(ge=0.0, le=365.0)] = 7.0
    """How long a link opens a ticket at most, and where its maker does not say; 0: nobody makes links."""


class LogSettings(Section, frozen=True):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "console", "json"] = "auto"
    file_megabytes: Annotated[float, Meta(ge=0.01, le=1024.0)] = 4.0


class TraceSettings(Section, frozen=True):
    redact: bool = True
    """Secrets and personal data are taken out of a step before it is kept."""
    replay: bool = True
    """What a run gets from outside is recorded as it came, so that it can be run again."""
    replay_days: Annotated[float, Meta(ge=0.0, le=36_500.0)] = 30.0
    """How long that is kept after the end of the run; 0: as long as the run."""
    otlp: Text = ""
    """Where a collector of OpenTelemetry listens; empty: nothing is sent."""


class WorkerSettings(Section, frozen=True):
    processes: Annotated[int, Meta(ge=1, le=64)] = 2


class Settings(Section, frozen=True):
    run: RunSettings = RunSettings()
    agents: AgentsSettings = AgentsSettings()
    documents: DocumentsSettings = DocumentsSettings()
    helpdesks: HelpdesksSettings = HelpdesksSettings()
    model: ModelSettings = ModelSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    plugins: PluginsSettings = PluginsSettings()
    embeddings: EmbeddingsSettings = EmbeddingsSettings()
    memory: MemorySettings = MemorySettings()
    research: ResearchSettings = ResearchSettings()
    tavily: TavilySettings = TavilySettings()
    duckduckgo: DuckduckgoSettings = DuckduckgoSettings()
    feeds: FeedsSettings = FeedsSettings()
    fetch: FetchSettings = FetchSettings()
    storage: StorageSettings = StorageSettings()
    server: ServerSettings = ServerSettings()
    log: LogSettings = LogSettings()
    trace: TraceSettings = TraceSettings()
    workers: WorkerSettings = WorkerSettings()


def check(settings: Settings) -> None:
    """
    Look at settings that a program put together by itself: no number of theirs lifts a bound.

    :raises ConfigError: the first that may not be as it is, or what one needs is not installed.
    """
    try:
        msgspec.convert(msgspec.to_builtins(settings), Settings)
    except (msgspec.ValidationError, TypeError) as error:
        raise ConfigError(f"The settings cannot be used: {error}.") from None
    if settings.trace.otlp and importlib.util.find_spec("opentelemetry") is None:
        raise ConfigError("[trace] otlp needs another package: pip install -e '.[otel]', or leave otlp away.")
