"""
The model behind any OpenAI-compatible server: one for a process, with a view of it for each run.

The process shares the client, the limits and what was learned of the server; a run has its own
account and budget. An answer is a conversation: a question, calls of tools within their bound, at
most one repair. A model may not bring in an address of its own.
"""

import contextlib
import functools
import math
import random
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
import structlog

from actors.documents.template import Document
from actors.evidence.passages import Passage
from actors.evidence.shortfalls import Shortfall, merge_shortfalls
from actors.evidence.trace_steps import NAME_CHARACTERS, CallStep, clip
from actors.ports import BudgetSpent, Completion, ModelFailed, ModelRequest, Trace, Untraced
from bus import Clock
from runtime.llm import prompt
from runtime.llm.client import (
    WANTED,
    ChatClient,
    DraftStream,
    HttpClient,
    Message,
    Reply,
    StreamedRequest,
    ToolCall,
    is_openai,
)
from runtime.llm.errors import (
    ELSEWHERE,
    FIRST,
    Capabilities,
    OutOfService,
    Rejected,
    ServerForms,
    minds_form,
    simpler,
    too_long,
)
from runtime.llm.output_schema import (
    Malformed,
    OutputSchema,
    ends_run,
    outline_of,
    says_nothing,
    schema_of,
    strict_schema,
)
from runtime.llm.usage import SMALLEST_ANSWER, Ledger, Reservation, estimate
from runtime.settings import ModelSettings
from runtime.storage.effects import Effects
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult
from runtime.tools.toolbox import OfferedTools, Toolbox, call_tool


class CallAccount:
    """Of one answer in the making."""

    __slots__ = (
        "_agent", "_clock", "_estimated", "_model", "_requests", "_shape", "_started", "_tokens_in", "_tokens_out",
        "_tries", "form", "repaired", "tools",
    )  # fmt: skip

    def __init__(self, agent: str, shape: str, model: str, clock: Clock) -> None:
        self._agent, self._shape, self._model = agent, shape, model
        self._clock, self._started = clock, clock.time()
        self._requests = self._tries = self._tokens_in = self._tokens_out = 0
        self._estimated = False
        self.form = ""
        """In which the answer was asked for last."""
        self.tools = False
        self.repaired = ""
        """Why the first answer went back to the model."""

    def count_tries(self, charge: Reservation) -> None:
        """A request is over; what was lost on its way costs its question."""
        self._requests += 1
        self._tries += charge.tries
        if charge.losses:
            self.add(charge.losses * charge.tokens_in, 0, estimated=True)

    def add(self, tokens_in: int, tokens_out: int, *, estimated: bool) -> None:
        """Tokens of a request."""
        self._tokens_in += tokens_in
        self._tokens_out += tokens_out
        self._estimated = self._estimated or estimated

    def conclude(self, failed: str = "") -> CallStep:
        """
        All of it.

        :param failed: why there is no answer; empty when there is one.
        """
        return CallStep(
            self._agent, self._shape, clip(self._model, NAME_CHARACTERS), self.form, self.tools, self._tokens_in,
            self._tokens_out, self._estimated, round(self._clock.time() - self._started, 3), self._requests,
            self._tries, clip(self.repaired), clip(failed),
        )  # fmt: skip


REMOVED = "[address removed]"
_ADDRESS = re.compile(
    r"""(?:[a-z][a-z0-9+.-]{0,30}:)?//[^\s<>"')\]}]+"""  # with a scheme, or relative to one
    r"""|\b(?:mailto|tel|javascript|data):[^\s<>"')\]}]+"""
    r"""|[^\s<>"'()\[\]{},;:@]{1,100}@[^\s<>"'()\[\]{},;:@]{1,255}\.[a-z]{2,}"""
    r"""|www\.[^\s<>"')\]}]+"""
    r"""|\b(?:[a-z0-9-]{1,63}\.){1,20}[a-z]{2,63}/[^\s<>"')\]}]*""",
    re.IGNORECASE,
)
_TAIL = ".,;:!?"
Plain = Any  # what msgspec.to_builtins makes of a struct


def remove_addresses(value: Plain, shown: Iterable[str]) -> tuple[Plain, int]:
    """Replace every address that stands in none of the shown texts; say how many there were."""
    texts = tuple(shown)
    count = 0

    def clean(match: re.Match[str]) -> str:
        nonlocal count
        address = match[0].rstrip(_TAIL)
        if any(address in text for text in texts):
            return match[0]
        count += 1
        return REMOVED + match[0][len(address) :]

    def walk(node: Plain) -> Plain:
        if isinstance(node, str):
            return _ADDRESS.sub(clean, node)
        if isinstance(node, list | tuple):
            return [walk(each) for each in node]
        if isinstance(node, dict):
            return {key: walk(each) for key, each in node.items()}
        return node

    return walk(value), count


RESULT_CHARACTERS = 16_000
PASSAGES = 32
"""The most of one call that is shown."""
NO_MORE = "No more calls: answer with what you have."
LEFT_OUT = "{name} failed and is done without: answer with what you have."


class ToolCalls:
    """The tools of one answer in the making, and what came of them."""

    __slots__ = (
        "_clock", "_fence", "_limit", "_on_call", "_own", "_passages", "_skipped", "_tools", "document",
        "incomplete", "left", "texts",
    )  # fmt: skip

    def __init__(
        self, offered: OfferedTools | None, clock: Clock, fence: str, passages: list[Passage], calls: int, limit: int,
        on_call: Callable[[str], object] | None = None,
    ) -> None:  # fmt: skip
        """
        :param passages: what the model was shown; what it finds is put behind that.
        :param calls: how many it may make.
        :param limit: the most characters of one passage.
        :param on_call: is told the name of each tool before it is called.
        """
        self._on_call = on_call
        self._own = offered.own if offered else None
        self._tools = {each.name: each for each in offered.tools} if offered else {}
        self._clock, self._fence, self._passages, self._limit = clock, fence, passages, limit
        self._skipped: dict[str, str] = {}
        self.left = calls if self._tools else 0
        self.texts: list[str] = []
        """What tools said besides passages."""
        self.document: Document | None = None
        """What a tool made for the person, the last of them."""
        self.incomplete: tuple[Shortfall, ...] = ()
        """What searches of tools did not look at."""

    @property
    def skipped(self) -> tuple[str, ...]:
        """What was done without, by the titles of the tools."""
        return tuple(self._skipped.values())

    @property
    def definitions(self) -> list[msgspec.Raw]:
        """The tools as the protocol has them."""
        return [define(each) for each in self._tools.values()]

    async def answer(self, name: str, arguments: str, seconds: float) -> str:
        """
        What a model is told of a call: never an exception's own words.

        :param seconds: what the call may take, with another try.
        """
        if self.left <= 0 or self._own is None:
            return NO_MORE
        tool = self._tools.get(name)
        self.left -= max(1, tool.counts) if tool else 1
        if tool is None:
            return f"There is no such tool; there is only {', '.join(self._tools)}."
        if name in self._skipped:
            return LEFT_OUT.format(name=name)
        try:
            given = msgspec.json.decode(arguments or "{}", type=tool.arguments, strict=False)
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            return explain_arguments(tool, str(error))
        return await self._call(self._own, tool, given, arguments, seconds)

    async def _call(self, own: ToolContext, tool: Tool, given: Any, arguments: str, seconds: float) -> str:
        if self._on_call is not None:
            self._on_call(tool.name)
        try:
            result, _ = await call_tool(tool, given, own, seconds, self._clock, arguments)
        except InvalidArguments as error:
            return explain_arguments(tool, str(error))
        if result is None:
            self._skipped[tool.name] = title = tool.title or tool.name
            if tool.searches:
                self.incomplete = merge_shortfalls(self.incomplete, [Shortfall("source_failed", title)])
            return LEFT_OUT.format(name=tool.name)
        self.document = result.document or self.document
        self.incomplete = merge_shortfalls(self.incomplete, result.incomplete)
        return self._render(tool.name, result)

    def _render(self, name: str, result: ToolResult) -> str:
        """Number what is new behind what was shown, and say which numbers the rest has."""
        numbers = {each.id: number for number, each in enumerate(self._passages, 1)}
        parts: list[str] = []
        if result.text:
            self.texts.append(result.text[:RESULT_CHARACTERS])
            parts.append(prompt.fence_text(self._fence, f"result of {name}", result.text, RESULT_CHARACTERS))
        for each in result.passages[:PASSAGES]:
            if each.id in numbers:
                parts.append(f"Already shown: [{numbers[each.id]}]")
                continue
            self._passages.append(each)
            numbers[each.id] = number = len(self._passages)
            parts.append(prompt.passage_block(self._fence, number, each, self._limit))
        return "\n\n".join(parts) or "It said nothing."


@functools.cache
def define(tool: Tool) -> msgspec.Raw:
    """A tool as the protocol has it, with the schema of its arguments."""
    schema, strict = strict_schema(tool.arguments)
    schema.pop("description", None)
    function = {"name": tool.name, "description": tool.description, "strict": strict, "parameters": schema}
    return msgspec.Raw(msgspec.json.encode({"type": "function", "function": function}))


def explain_arguments(tool: Tool, problem: str) -> str:
    """How a tool is called, for a model that called it otherwise."""
    count = len(tool.arguments.__struct_fields__)
    takes = "one argument" if count == 1 else f"{count} arguments"
    reason = " ".join(problem.encode("utf-8", "replace").decode().split())[:200]
    return f"{tool.name} takes {takes}: {outline_of(tool.arguments)}. Nothing was done ({reason})."


log = structlog.get_logger()

Said = dict[str, Any]
"""One message of a conversation, as the protocol has it."""

ARGUMENTS_CHARACTERS = 16_000
"""The most of a tool call's arguments that is read."""
ECHO_CHARACTERS = 16_000
"""The most of an unusable answer that the model is shown again."""
NOT_YOURS = "you cannot end the workflow; answer what you were asked"
SHORTEST = 200
"""Characters to which texts and passages are cut at most, for a model that takes little."""
FEWEST = 3
"""Passages that are shown, though shorter, rather than left away."""
ANSWERS_SHARE = 0.25
"""Of what a model takes: room that is left for its answer."""
ROUGH = 0.9
"""Tokens are estimated, so that no more of what a model takes is filled."""
GUESSES = 2
"""So many simpler forms are tried on a server that does not say what it minds."""
TEMPLATE_TOKENS = 2048
"""What a server may add to a request of ours: a token is a byte of it at least."""
CALLS_AT_ONCE = 32
"""Tool calls of one message that are answered at all."""

_encode = msgspec.json.Encoder().encode


class Conversation:
    """One answer in the making."""

    __slots__ = (
        "_account", "_draft", "_fence", "_halved", "_ledger", "_may_repair", "_passages", "_said", "_schema", "_shared",
        "_system", "_task", "_tools", "_until", "malformed",
    )  # fmt: skip

    def __init__(
        self, shared: "OpenAIModel", ledger: Ledger, wanted: OutputSchema[Any], task: ModelRequest, within: float, *,
        tools: OfferedTools | None, account: CallAccount, repairs: bool = True,
    ) -> None:  # fmt: skip
        """
        :param tools: what the model may call.
        :param account: what the answer takes is counted there.
        :param repairs: an answer that cannot be used goes back once.
        """
        self._account = account
        self._shared, self._ledger = shared, ledger
        self._schema, self._task = wanted, task
        self._until = shared.server.clock.time() + within
        self._fence = shared.fence()
        self._passages: list[Passage] = list(task.findings.passages) if task.findings is not None else []
        self._may_repair, self._halved = repairs, False
        self.malformed = 0
        """How many answers could not be used."""
        self._system = prompt.system(task)
        limit = shared.settings.material_characters
        calls = shared.settings.tool_calls
        self._tools = ToolCalls(tools, shared.server.clock, self._fence, self._passages, calls, limit, task.on_tool)
        self._said: list[Said] = [{"role": "user", "content": self._write(self._find_room())}]
        self._draft: DraftStream | None = None
        if task.on_text is not None and wanted.shown:
            self._draft = DraftStream(task.on_text, wanted.shown, self._clean, shared.server.clock)

    def _find_room(self) -> float:
        """Tokens that the question may have beside instructions and answer; endless where nobody has said."""
        context = self._shared.settings.context
        if not context:
            return math.inf
        answer = min(self._shared.settings.answer_tokens, max(SMALLEST_ANSWER, int(context * ANSWERS_SHARE)))
        before = (self._system + prompt.SCHEMA + self._schema.text).encode("utf-8", "replace")
        return context * ROUGH - answer - estimate(before)

    def _write(self, room: float) -> str:
        """The question, with as much of its material as fits: fewer passages first, then shorter texts."""
        closing = prompt.CLOSING.format(name=self._schema.name, outline=self._schema.outline)
        limit, shown = self._shared.settings.material_characters, self._passages
        while True:
            text = prompt.user(self._task, self._fence, shown, closing, limit)
            if estimate(text.encode("utf-8", "replace")) <= room or limit <= SHORTEST:
                return text
            if len(shown) > FEWEST:
                del shown[-1]  # whoever reads the answer knows of no other passages than the model
            else:
                limit = max(SHORTEST, limit // 2)

    async def run_to_answer(self, run_id: str) -> Completion:
        """
        Talk until there is an answer. Each round uses up a call or the repair, or is the last.

        :raises ModelFailed: there is none, with a sentence for the user.
        """
        draft = self._draft
        if draft is None:
            return await self._talk(run_id)
        try:
            completion = await self._talk(run_id)
        except BaseException:
            draft.begin()
            raise
        draft.finish()
        return completion

    async def _talk(self, run_id: str) -> Completion:
        for _ in range(self._tools.left + 3):
            message = await self._ask()
            if message.tool_calls and self._tools.left > 0 and not self._answers_by_call(message):
                await self._call_tools(message)
                continue
            try:
                value = self._read(message.text, run_id)
            except Malformed as problem:
                self.malformed += 1
                self._repair(message, problem)
            else:
                value = self._remove_own_addresses(value, run_id)
                tools = self._tools
                return Completion(
                    value,
                    tuple(self._passages),
                    judged=True,
                    skipped=tools.skipped,
                    document=tools.document,
                    incomplete=tools.incomplete,
                )
        raise ModelFailed(f"{self._shared.settings.name} came to no answer: try another [model] name.")

    def _answers_by_call(self, message: Message) -> bool:
        """Whether the one call is of a tool called as the answer is: gateways make one of a schema."""
        calls = message.tool_calls or ()
        return len(calls) == 1 and calls[0].function.name in (self._schema.name, "json_tool_call")

    def _read(self, text: str, run_id: str) -> Any:  # an instance of the wanted shape
        """What an answer says. That it ends the run is not for a model to say; what else it says counts."""
        ending = ends_run(text)
        if ending:
            reason = "a model cannot end a run"
            log.warning("termination.refused", run=run_id, agent=self._task.agent, reason=reason)
        value = self._schema.decode(text)
        if ending and says_nothing(value):
            raise Malformed(NOT_YOURS)
        return value

    def _remove_own_addresses(self, value: Any, run_id: str) -> Any:  # an instance of the wanted shape
        plain, unknown = remove_addresses(msgspec.to_builtins(value), self._list_sources())
        if not unknown:
            return value
        log.warning("model.addresses_removed", run=run_id, agent=self._task.agent, count=unknown)
        return msgspec.convert(plain, type(value))

    def _clean(self, text: str) -> str:
        """A piece of an answer without addresses of the model's own."""
        plain: str = remove_addresses(text, self._list_sources())[0]
        return plain

    def _list_sources(self) -> list[str]:
        """The texts whose addresses the model may name."""
        task = self._task
        shown = [task.instructions, *(each.text for each in self._passages), *self._tools.texts]
        if task.findings is None and not task.tools:  # it restates the ticket, and gives no advice
            shown += [text for _, text in prompt.fields_of(task.material)]
        return shown

    def _repair(self, message: Message, problem: Malformed) -> None:
        name = self._schema.name
        if not self._may_repair:
            model = self._shared.name_for(self._task)
            said = f"{model} was asked again and did not give the JSON object that was asked for ({problem})"
            raise ModelFailed(f"{said}: try another [model] name.")
        self._may_repair = False
        self._account.repaired = str(problem)
        self._said.append({"role": "assistant", "content": message.text[:ECHO_CHARACTERS] or "(nothing)"})
        asked = prompt.REPAIR.format(reason=problem, name=name) + prompt.SCHEMA + self._schema.text
        self._said.append({"role": "user", "content": asked})

    async def _call_tools(self, message: Message) -> None:
        """Answer each call of a tool; those beyond the bound, and other tools, with a sentence only."""
        calls = [
            _echo(call, f"call_{len(self._said)}_{number}")
            for number, call in enumerate((message.tool_calls or [])[:CALLS_AT_ONCE])
        ]
        self._said.append({"role": "assistant", "content": message.text or None, "tool_calls": calls})
        for call in calls:
            share = self._remaining() / 2  # the other half is for the answer
            content = await self._tools.answer(call["function"]["name"], call["function"]["arguments"], share)
            self._said.append({"role": "tool", "tool_call_id": call["id"], "content": content})

    async def _ask(self) -> Message:
        """One message of the model, in the fullest form of request that its server takes."""
        shared, wants_tools, named, guesses = self._shared, self._tools.left > 0, True, 0
        form = shared.forms.best(tools=wants_tools)
        while True:
            tools = form.tools and wants_tools
            try:
                reply = await self._paid(form, tools=tools)
                break
            except Rejected as rejected:
                streamed = self._draft is not None and bool(form.stream)
                less = simpler(form, rejected.detail, tools=tools, stream=streamed)
                if less is None and self._halve(rejected):
                    continue
                guesses += not minds_form(rejected.detail)
                if less is None or guesses > GUESSES:
                    raise OutOfService(str(rejected)) from None
                form, named = less, named and not guesses
        if form != shared.forms.best(tools=wants_tools):
            kept = shared.forms.learn(form, tools=wants_tools, named=named)
            log.warning("model.form_changed", server=shared.server.where, kept=kept, **msgspec.structs.asdict(form))
        else:
            shared.forms.confirm(tools=wants_tools)
        if not form.tools:
            self._tools.left = 0
        return _message_of(reply, shared.settings.name)

    def _halve(self, rejected: Rejected) -> bool:
        """Make a question that a server finds too long half as long, once."""
        if self._halved or len(self._said) > 1 or not too_long(rejected.detail):
            return False
        self._halved = True
        before = self._said[0]["content"]
        self._said[0]["content"] = self._write(estimate(before.encode("utf-8", "replace")) / 2)
        log.warning("model.question_halved", agent=self._task.agent, server=self._shared.server.where)
        return len(self._said[0]["content"]) < len(before)

    async def _paid(self, capabilities: Capabilities, *, tools: bool) -> Reply:
        """One request: reserved before, settled after, in whatever way it ends."""
        settings, server = self._shared.settings, self._shared.server
        body = self._body(capabilities, tools=tools)
        asked = estimate(body)
        most = settings.answer_tokens
        if settings.context:
            most = min(most, max(SMALLEST_ANSWER, int(settings.context * ROUGH) - asked))
        charge = self._ledger.reserve(asked, most, last=self._task.last)
        if capabilities.limit:
            body = b'%s,"%s":%d}' % (body[:-1], capabilities.limit.encode(), charge.tokens_out)
        self._account.form, self._account.tools = capabilities.format, tools
        try:
            streamed = self._stream(body, capabilities)
            reply = await server.complete(body, charge, within=self._remaining(), streamed=streamed)
        except BaseException:
            charge.release()
            raise
        finally:
            self._account.count_tries(charge)
        if reply.tokens is None:
            text = reply.choices[0].message.text
            paid = (asked, estimate(text.encode("utf-8", "replace")))
        else:
            bounds = (len(body) + TEMPLATE_TOKENS, charge.tokens_out + reply.length)
            paid = (min(reply.tokens[0], bounds[0]), min(reply.tokens[1], bounds[1]))
        estimated = paid != reply.tokens
        charge.settle(*paid, estimated=estimated)
        self._account.add(*paid, estimated=estimated)
        if reply.choices[0].finish_reason == "length" and charge.tokens_out < most:
            raise BudgetSpent("The ticket's budget left no room for a whole answer: raise [model] ticket_tokens.")
        return reply

    def _stream(self, body: bytes, capabilities: Capabilities) -> StreamedRequest | None:
        """The request with which the model writes while somebody reads along."""
        if self._draft is None:
            return None
        self._draft.begin()
        return StreamedRequest(body[:-1] + WANTED[capabilities.stream], self._draft) if capabilities.stream else None

    def _body(self, capabilities: Capabilities, *, tools: bool) -> bytes:
        wanted, system, said = self._schema, self._system, self._said
        shared = self._shared
        body: dict[str, Any] = {"temperature": 0} if capabilities.temperature else {}
        body |= {**shared.extra, "model": shared.name_for(self._task)}
        if capabilities.format == "json_schema":
            body["response_format"] = wanted.json_schema
        elif capabilities.format == "json_object":
            body["response_format"] = wanted.json_object
        if capabilities.format != "json_schema" or not shared.enforces_schema:
            system += prompt.SCHEMA + wanted.text
        if tools:
            body["tools"] = self._tools.definitions
        if capabilities.system:
            body["messages"] = [{"role": "system", "content": system}, *said]
        else:
            body["messages"] = [{"role": "user", "content": f"{system}\n\n{said[0]['content']}"}, *said[1:]]
        return _encode(body)

    def _remaining(self) -> float:
        return self._until - self._shared.server.clock.time()


def _message_of(reply: Reply, name: str) -> Message:
    choice = reply.choices[0]
    if choice.message.refusal:
        raise ModelFailed(f"{name} refused to answer this: a person has to.")
    if choice.finish_reason == "content_filter":
        raise ModelFailed(f"The server's content filter withheld the answer of {name}: a person has to answer.")
    if choice.finish_reason == "length":
        raise ModelFailed(f"The answer of {name} was cut at its limit: raise [model] answer_tokens.")
    return choice.message


def _echo(call: ToolCall, number: str) -> Said:
    """A tool call as it is repeated to the server, with an id where it had none."""
    arguments = call.function.arguments
    text = arguments if isinstance(arguments, str) else _encode(arguments or {}).decode()
    function = {"name": call.function.name[:64], "arguments": text[:ARGUMENTS_CHARACTERS]}
    return {"id": call.id or number, "type": "function", "function": function}


T = TypeVar("T", bound=msgspec.Struct)

NO_JSON = (
    "{name} gave no answer as JSON, whatever it was asked, and is left alone for a while: try another [model] name."
)
GARBLED = 3
"""After so many answers in a row that are no JSON a run asks its model no more."""
LEFT_ALONE_SECONDS = 600.0
"""So long no other run asks a model that has never written any: a hostile ticket makes nobody else's model mute."""


class OpenAIModel:
    """Shared by all runs of a process."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        tools: Toolbox | None = None,
        names: Mapping[str, str] | None = None,
        http_client: Callable[[], HttpClient] | None = None,
        clock: Clock | None = None,
        fence: Callable[[], str] = lambda: secrets.token_hex(8),
        dice: random.Random | None = None,
    ) -> None:
        """
        :param tools: what the model may call, where a task names it.
        :param names: of the models of agents that have one of their own, by the agent.
        :param http_client: makes what the SDK sends through; None is the SDK's own client over aiohttp.
        :param fence: a fresh mark, for each answer, that nobody outside can guess.
        :param dice: spreads retries in time.
        """
        self.settings = settings
        self.tools = tools
        self.names = names or {}
        self.extra: dict[str, Any] = msgspec.json.decode(settings.extra or "{}")
        self.server = ChatClient(settings, http_client=http_client, clock=clock, dice=dice)
        self.fence = fence
        self.enforces_schema = is_openai(settings)
        """Others may take a schema and not heed it, so they are shown it as well."""
        self.forms = ServerForms(self.server.clock, FIRST if self.enforces_schema else ELSEWHERE)
        self._fluent, self._mute = set[str](), dict[str, float]()
        self.total = Ledger()
        """What was spent outside of any run."""

    def for_run(
        self, run_id: str, ledger: Ledger | None = None, trace: Trace | None = None, effects: Effects | None = None
    ) -> "RunModel":
        """The model as one run sees it, with the run's own account and budget."""
        return RunModel(self, run_id, ledger or Ledger(self.settings.ticket_tokens), trace, effects)

    def name_for(self, task: ModelRequest) -> str:
        """The model that is to think about a task."""
        return self.names.get(task.agent) or task.model or self.settings.name

    @property
    def mute(self) -> tuple[str, ...]:
        """The models that are left alone for a while: none of their answers was in form."""
        now = self.server.clock.time()
        return tuple(name for name, until in self._mute.items() if now < until)

    def note_form(self, name: str, *, garbled: int) -> None:
        """:param garbled: how many answers in a row could not be used by now; 0: the last one could."""
        if not garbled:
            self._fluent.add(name)
            self._mute.pop(name, None)
        elif garbled >= GARBLED and name not in self._fluent:
            log.warning("model.left_alone", model=name, seconds=LEFT_ALONE_SECONDS)
            self._mute[name] = self.server.clock.time() + LEFT_ALONE_SECONDS

    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:
        """As `ports.Model`, outside of any run."""
        return await RunModel(self, "", self.total).fill(shape, task, within=within)

    async def warm(self) -> None:
        """Load the SDK before the first call needs it; if that fails, the first call says so."""
        with contextlib.suppress(ModelFailed):
            await self.server.load()

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()


class RunModel:
    """The model of one run: made per ticket, in less than a microsecond."""

    __slots__ = ("_effects", "_garbled", "_out", "_trace", "ledger", "run_id", "shared")

    def __init__(
        self, shared: OpenAIModel, run_id: str, ledger: Ledger, trace: Trace | None = None,
        effects: Effects | None = None,
    ) -> None:  # fmt: skip
        self._trace = trace or Untraced()
        self._effects = effects
        self.shared = shared
        self.run_id = run_id
        self.ledger = ledger
        self._out = ""
        self._garbled = 0
        """Answers in a row that were not in form."""

    async def fill(self, shape: type[T], task: ModelRequest, *, within: float) -> Completion:
        """
        As `ports.Model`.

        A server that hangs, or asks to be left alone, costs its time once: the run's later questions fail at once.
        """
        wanted, shared = schema_of(shape, task.choices), self.shared
        name = shared.name_for(task)
        account = CallAccount(task.agent, wanted.name, name, shared.server.clock)
        if out := self._out or (NO_JSON.format(name=name) if name in shared.mute else ""):
            self._trace.note(account.conclude(f"It was not asked. {out}"))
            raise ModelFailed(out)
        talk = Conversation(
            shared, self.ledger, wanted, task, within, tools=self._offer_tools(task), account=account,
            repairs=self._garbled + 1 < GARBLED,
        )  # fmt: skip
        failed = "Its time was up."
        try:
            filled = await talk.run_to_answer(self.run_id)
            failed = ""
            self._garbled = talk.malformed = 0
            shared.note_form(name, garbled=0)
        except ModelFailed as error:
            failed = str(error)
            self._garbled += talk.malformed
            shared.note_form(name, garbled=self._garbled) if talk.malformed else None
            if isinstance(error, OutOfService) or self._garbled >= GARBLED:
                self._out = failed
            raise
        else:
            return filled
        finally:
            self._trace.note(account.conclude(failed))

    def _offer_tools(self, task: ModelRequest) -> OfferedTools | None:
        if not task.tools or self.shared.tools is None:
            return None
        return self.shared.tools.offer(
            task.tools, run=self.run_id, agent=task.agent, trace=self._trace, effects=self._effects,
            said=task.said,
        )  # fmt: skip
