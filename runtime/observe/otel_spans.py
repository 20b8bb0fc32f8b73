"""Spans as OpenTelemetry has them, by its conventions for generative AI, and how they get to a collector."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from runtime.observe.span import TraceSpan
from runtime.observe.trace_id import split_trace
from runtime.program import version
from runtime.storage.records import StoredRun

SECONDS = 5.0
"""Of one request to the collector."""
MOST_SPANS = 20_000
"""So many wait for the collector; the oldest go when there are more."""
NANOSECONDS = 1_000_000_000
PATH = "/v1/traces"
ERRORS = frozenset({"failed", "refused", "timed_out"})
Attributes = dict[str, str | int | float]


class _Convention(NamedTuple):
    """How the conventions call a kind of span."""

    operation: str
    name: str
    input: str = "terminus.input"
    output: str = "terminus.output"
    kind: SpanKind = SpanKind.INTERNAL


CONVENTIONS = {
    "run": _Convention("invoke_workflow", "gen_ai.workflow.name"),
    "agent": _Convention("invoke_agent", "gen_ai.agent.name"),
    "model": _Convention("chat", "gen_ai.request.model", input="terminus.answer_type", kind=SpanKind.CLIENT),
    "tool": _Convention("execute_tool", "gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
    "search": _Convention("retrieval", "gen_ai.data_source.id", "gen_ai.retrieval.query.text"),
}
"""https://opentelemetry.io/docs/specs/semconv/gen-ai/; what they do not know goes by a name of ours."""


class SpanSender:
    """Sends spans to one collector, from a thread of its own."""

    def __init__(self, address: str) -> None:
        """:param address: of the collector, such as `http://127.0.0.1:4318`."""
        self._resource = Resource.create({SERVICE_NAME: "terminus", SERVICE_VERSION: version()})
        exporter = OTLPSpanExporter(endpoint=address.rstrip("/") + PATH, timeout=SECONDS)
        self._processor = BatchSpanProcessor(exporter, max_queue_size=MOST_SPANS, schedule_delay_millis=500)

    def send(self, run: StoredRun, spans: Sequence[TraceSpan]) -> None:
        """Put the spans of a run behind those that wait; it waits for nothing."""
        for each in convert(run, spans, self._resource):
            self._processor.on_end(each)

    def close(self) -> None:
        """Send what waits, which may take as long as the collector does."""
        self._processor.shutdown()  # type: ignore[no-untyped-call] # the SDK does not say what it returns


def convert(run: StoredRun, spans: Sequence[TraceSpan], resource: Resource) -> Iterator[ReadableSpan]:
    """The spans of a run, with the ids that they have here; the first stands below the caller's, if there is one."""
    trace, caller = split_trace(run)
    for each in spans:
        begin = run.started + each.begin
        parent = each.parent or caller
        yield ReadableSpan(
            name=f"{CONVENTIONS[each.kind].operation if each.kind in CONVENTIONS else each.kind} {each.name}",
            context=_make_context(trace, each.id),
            parent=_make_context(trace, parent, is_remote=not each.parent) if parent else None,
            resource=resource, attributes=describe(run, each), kind=_find_kind(each),
            instrumentation_scope=InstrumentationScope("terminus", version()),
            status=Status(StatusCode.ERROR, each.why or each.status) if each.status in ERRORS else Status(),
            start_time=int(begin * NANOSECONDS), end_time=int((begin + (each.seconds or 0.0)) * NANOSECONDS),
        )  # fmt: skip


def describe(run: StoredRun, span: TraceSpan) -> Attributes:
    """What is told of a span, by the names of the conventions where they have one."""
    convention = CONVENTIONS.get(span.kind, _Convention("", f"terminus.{span.kind}"))
    told: Attributes = {
        "gen_ai.operation.name": convention.operation, convention.name: span.name, convention.input: span.input,
        convention.output: span.output, "gen_ai.conversation.id": run.ticket, "terminus.run": run.id,
        "terminus.status": span.status, "terminus.decided_by": span.by, "terminus.category": span.category,
    }  # fmt: skip
    if span.kind == "model":
        told |= {
            "gen_ai.provider.name": "openai", "gen_ai.usage.input_tokens": span.tokens_in,
            "gen_ai.usage.output_tokens": span.tokens_out,
        }  # fmt: skip
    numbers = {"terminus.confidence": span.confidence, "terminus.cost": span.cost}
    told |= {name: value for name, value in numbers.items() if value is not None}
    return {name: value for name, value in told.items() if value != ""}


def _find_kind(span: TraceSpan) -> SpanKind:
    return CONVENTIONS[span.kind].kind if span.kind in CONVENTIONS else SpanKind.INTERNAL


def _make_context(trace: str, span: str, *, is_remote: bool = False) -> SpanContext:
    """What is not sampled does not come here."""
    return SpanContext(int(trace, 16), int(span, 16), is_remote=is_remote, trace_flags=TraceFlags(TraceFlags.SAMPLED))
