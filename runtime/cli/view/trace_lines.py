"""
Why an answer is as it is, as lines for people: searches with scores, claims with quotes, calls of
models, a tree of times. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence

from actors.evidence.trace_steps import AnswerStep, CallStep, CheckedClaim, Found, SearchStep, ToolStep
from runtime.cli.view.printing import Line
from runtime.cli.view.width import fit
from runtime.observe.span import TraceSpan
from runtime.observe.trace_record import TraceRecord
from runtime.times import format_duration
from runtime.user_text import pluralize, safe, spell_out

COLUMNS, COLUMNS_OF_ALL = 60, 400
DEEPER = 2
"""Columns by which a span stands further in than the one above it."""
STYLES: Mapping[str, str] = {
    "failed": "bad", "refused": "unsure", "timed_out": "bad", "cancelled": "poor", "running": "going",
}  # fmt: skip
KINDS: Mapping[str, str] = {
    "classification": "intent", "routing": "routed to", "search": "searched", "model": "model", "tool": "tool",
}  # fmt: skip
"""How a span is introduced; the others go by their names."""


def span_lines(spans: Sequence[TraceSpan], *, full: bool) -> Iterator[Line]:
    """
    Each span below the one that it was done for: when it began, how long it took, what it was and how it ended.

    :param full: with what each was given and what came of it.
    """
    if not spans:
        return
    yield Line("What took how long", "strong")
    depths: dict[str, int] = {}
    for each in spans:
        depth = depths[each.id] = depths.get(each.parent, -1) + 1
        took = "" if not each.seconds else _tell_seconds(each.seconds)
        text = f"{each.begin:9.3f} s  {took:>9}  {' ' * DEEPER * depth}{_describe(each, full=full)}"
        yield Line(text, STYLES.get(each.status, ""), 1)
        inside = 24 + DEEPER * depth
        if full:
            said = (("given", each.input), ("came", each.output))
            yield from (Line(f"{name}: {fit(text, COLUMNS_OF_ALL)}", "faint", inside) for name, text in said if text)
    yield Line("")


def _describe(span: TraceSpan, *, full: bool) -> str:
    name = " ".join(filter(None, (KINDS.get(span.kind, ""), safe(span.name))))
    parts = []
    if span.kind == "agent" and span.status == "ok":
        parts.append(spell_out(span.output.partition(" ")[0]))
    if span.kind in {"search", "claims"}:
        parts.append(span.output)
    if span.kind == "classification":
        sure = "" if span.confidence is None else f"{span.confidence:.0%} sure, "
        parts += [*filter(None, [spell_out(span.category)]), f"{sure}by {span.by}"]
    if span.kind == "model":
        parts += [span.input, f"{span.tokens_in:,} + {span.tokens_out:,} tokens"]
        parts += [f"cost {span.cost:g}"] if span.cost is not None else []
    if span.status != "ok":
        parts.append(spell_out(span.status))
    if span.why and (full or span.status not in {"ok", "running"}):
        parts.append(fit(span.why, COLUMNS_OF_ALL if full else COLUMNS))
    said = "; ".join(map(safe, filter(None, parts)))
    return f"{name}: {said}" if said else name


def _tell_seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else format_duration(seconds)


STEPS, FOUND, CLAIMS = 6, 3, 3
"""So many of each are shown where not all is wanted."""
COLUMNS, COLUMNS_OF_ALL = 90, 400
FATES = {
    "kept": ("Kept", "good"), "rewritten": ("Written anew", "unsure"), "dropped": ("Dropped", "poor"),
}  # fmt: skip


def why_lines(trace: TraceRecord, *, full: bool) -> Iterator[Line]:
    """
    What was searched and found, what became of each claim, what models were asked, and which tools they called.

    :param full: all of it, with the quotes; else the beginning of each part, and of calls only those that tell more
        than the spans do.
    """
    most = max(map(len, (trace.searches, trace.answers, trace.calls, trace.tools))) if full else STEPS
    yield _title("Searches", len(trace.searches))
    for search in trace.searches[:most]:
        yield from _describe_search(search, full=full)
    yield from _tell_rest(len(trace.searches) - most, "search", "searches")
    yield _title("Claims", sum(len(each.claims) + each.more for each in trace.answers))
    for answer in trace.answers[:most]:
        yield from _describe_answer(answer, full=full)
    yield from _tell_rest(len(trace.answers) - most, "answer", "answers")
    calls = [each for each in trace.calls if full or each.repaired or each.failed]
    if calls or not trace.calls:
        yield _title("Model calls" if full or not calls else "Model calls that did not go well", len(calls))
        for call in calls[:most]:
            yield from _describe_call(call, full=full)
        yield from _tell_rest(len(calls) - most, "call", "calls")
    if trace.tools:
        yield _title("Tools", len(trace.tools))
        for tool in trace.tools[:most]:
            yield from _describe_tool(tool, full=full)
        yield from _tell_rest(len(trace.tools) - most, "call", "calls")
    yield from (Line(note, "poor") for note in trace.notes)
    if trace.notes:
        yield Line("")


def _describe_search(search: SearchStep, *, full: bool) -> Iterator[Line]:
    columns, most = (COLUMNS_OF_ALL, len(search.found)) if full else (COLUMNS, FOUND)
    where = {"documents": "the documents", "pages": "the pages that were read"}.get(search.where, search.where)
    yield Line(f"{_when(search.at)}{safe(search.by)} searched {safe(where)}: {_quote(search.query, columns)}", indent=2)
    if search.failed:
        yield Line(f"It failed: {search.failed}", "bad", 6)
    if search.nearest is not None:
        yield Line(f"The nearest in meaning: {search.nearest:z.2f}.", "faint", 6)
    if search.abstain:
        yield Line(f"Not taken for an answer: {search.abstain}", "poor", 6)
    if search.words_only:
        yield Line(f"By words only: {search.words_only}", "poor", 6)
    for number, each in enumerate(search.found[:most], 1):
        yield _describe_find(number, each, columns)
    if left := len(search.found[most:]) + search.more:
        yield Line(f"and {left} more", "faint", 6)
    if search.pending:
        yield Line("Its end is not known yet.", "faint", 6)
    elif not (search.found or search.abstain or search.failed):
        yield Line("It found nothing new.", "faint", 6)


def _describe_find(number: int, found: Found, columns: int) -> Line:
    measures = (("meaning", found.meaning), ("quality", found.quality))
    scores = ", ".join(f"{name} {score:z.2f}" for name, score in measures if score is not None) or "no score"
    place = fit(" · ".join(filter(None, (found.source, found.heading))), columns)
    left_out = f" — not read: {found.left_out}" if found.left_out else ""
    return Line(f"{number}. {scores}: {place}{left_out}", "faint", 6)


def _describe_answer(answer: AnswerStep, *, full: bool) -> Iterator[Line]:
    fates = [each.fate for each in answer.claims]
    counts = [f"{fates.count(fate)} {name.lower()}" for fate, (name, _) in FATES.items() if fate in fates]
    counts += [f"{answer.more} more"] if answer.more else []
    asked = f" on {_quote(answer.asked, COLUMNS)}" if answer.asked else ""
    yield Line(f"{_when(answer.at)}{safe(answer.by) or 'the answer'}{asked}: {', '.join(counts) or 'none'}", indent=2)
    lost = [each for each in answer.claims if each.fate != "kept"]
    shown = answer.claims if full else [*lost, *(each for each in answer.claims if each.fate == "kept")][:CLAIMS]
    for each in shown:
        yield from _describe_claim(each, full=full)
    if left := len(answer.claims) - len(shown):
        yield Line(f"and {left} more", "faint", 6)


def _describe_claim(claim: CheckedClaim, *, full: bool) -> Iterator[Line]:
    name, style = FATES[claim.fate]
    columns = COLUMNS_OF_ALL if full else COLUMNS
    why = f", for {safe(claim.why)}" if claim.why else ""
    yield Line(f"{name}{why}: {_quote(claim.text or claim.quote, columns)}", style, 6)
    if claim.text and (full or claim.fate != "kept"):
        yield Line(f"its quote: {_quote(claim.quote, columns)}", "quote", 8)
    if claim.source and full:
        yield Line(f"from {claim.source}", "faint", 8)


def _describe_call(call: CallStep, *, full: bool) -> Iterator[Line]:
    about = "about " if call.estimated else ""
    form = ", ".join(filter(None, (spell_out(call.form), "with tools" if call.tools else "")))
    took = [f"{about}{call.tokens_in:,} tokens in, {call.tokens_out:,} out", f"{call.seconds:.2f} s"]
    took += [pluralize(call.requests, "request")] if call.requests > 1 else []
    took += [f"{call.tries:,} {'try' if call.tries == 1 else 'tries'}"]
    named = f" ({safe(call.model)})" if full else ""
    asked = f"{safe(call.by)} asked for {safe(call.shape)}{named}"
    yield Line(f"{_when(call.at)}{asked}{f' as {form}' if form else ''}: {'; '.join(took)}", indent=2)
    if call.repaired:
        yield Line(f"Sent back once: {call.repaired}", "unsure", 6)
    if call.failed:
        yield Line(f"No answer: {call.failed}", "bad", 6)


def _describe_tool(step: ToolStep, *, full: bool) -> Iterator[Line]:
    columns = COLUMNS_OF_ALL if full else COLUMNS
    found = f"; {pluralize(step.passages, 'passage')}" if step.passages else ""
    called = f"{safe(step.by)} called {safe(step.tool)} with {_quote(step.arguments, columns)}"
    yield Line(f"{_when(step.at)}{called}: {step.seconds:.2f} s{found}", indent=2)
    if step.failed:
        yield Line(f"Done without: {step.failed}", "bad", 6)
    if step.result:
        yield Line(f"It said: {_quote(step.result, columns)}", "faint", 6)


def _title(what: str, count: int) -> Line:
    return Line(f"{what} ({count})" if count else f"{what}: none", "strong")


def _tell_rest(count: int, one: str, many: str) -> Iterator[Line]:
    """How much is not shown, and how it can be had."""
    if count > 0:
        yield Line(f"and {count} more {one if count == 1 else many}: --full shows all", "faint", 2)
    yield Line("")


def _when(at: float) -> str:
    return f"{at:.2f} s  " if at else ""


def _quote(text: str, columns: int) -> str:
    return f"“{fit(text, columns)}”"
