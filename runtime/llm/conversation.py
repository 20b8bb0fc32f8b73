"""The conversation that one answer takes: a question, calls of tools within their bound, at most one repair."""

import math
from typing import TYPE_CHECKING, Any

import msgspec
import structlog

from actors.evidence.passages import Passage
from actors.ports import BudgetSpent, Completion, ModelFailed, ModelRequest
from runtime.llm import prompt, url_filter
from runtime.llm.call_account import CallAccount
from runtime.llm.capabilities import Capabilities, minds_form, simpler, too_long
from runtime.llm.chat_completion import Message, Reply, ToolCall
from runtime.llm.draft_stream import DraftStream
from runtime.llm.errors import OutOfService, Rejected
from runtime.llm.output_schema import Malformed, OutputSchema, ends_run, says_nothing
from runtime.llm.streamed_completion import WANTED, StreamedRequest
from runtime.llm.tool_calls import ToolCalls
from runtime.llm.usage import SMALLEST_ANSWER, Ledger, estimate
from runtime.tools.toolbox import OfferedTools

if TYPE_CHECKING:
    from runtime.llm.openai_model import OpenAIModel

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
        plain, unknown = url_filter.remove_addresses(msgspec.to_builtins(value), self._list_sources())
        if not unknown:
            return value
        log.warning("model.addresses_removed", run=run_id, agent=self._task.agent, count=unknown)
        return msgspec.convert(plain, type(value))

    def _clean(self, text: str) -> str:
        """A piece of an answer without addresses of the model's own."""
        plain: str = url_filter.remove_addresses(text, self._list_sources())[0]
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
