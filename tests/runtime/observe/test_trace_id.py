"""The id of a trace: one for each run, taken from who sends the ticket, and found by it."""

import re
from pathlib import Path

import msgspec
import pytest

from runtime.observe.trace_id import UNSAMPLED, parse_traceparent, read_trace_id
from tests.runtime.http.kit import TEXT, interface

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
OTHER = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "garbage",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
    ],
)
def test_a_header_that_is_none_is_passed_over(header: str) -> None:
    assert parse_traceparent(header) == ""


def test_a_header_of_a_later_version_may_say_more() -> None:
    assert parse_traceparent(f" 00-{TRACE}-{SPAN}-01 ") == TRACE + SPAN
    assert parse_traceparent(f"01-{TRACE}-{SPAN}-01-more") == TRACE + SPAN


@pytest.mark.parametrize(("flags", "more"), [("00", UNSAMPLED), ("02", UNSAMPLED), ("01", ""), ("ff", "")])
def test_a_header_says_whether_its_caller_samples_the_trace(flags: str, more: str) -> None:
    assert parse_traceparent(f"00-{TRACE}-{SPAN}-{flags}") == TRACE + SPAN + more


@pytest.mark.req("LG-26")
async def test_every_run_has_a_trace_of_its_own_or_that_of_its_caller(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        made = [await web.submit(f"{TEXT} {n}", wait=20) for n in range(3)]
        headers = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
        status, given = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT, "id": "T-9"}, headers=headers)

        assert status == 200
        assert given["trace"] == TRACE
        traces = {each["trace"] for each in made}
        assert len(traces) == 3
        assert all(re.fullmatch("[0-9a-f]{32}", each) for each in traces)
        for outcome in (*made, given):
            _, standing = await web.ask("GET", f"/tickets/{outcome['ticket']}")
            _, trace = await web.ask("GET", f"/tickets/{outcome['ticket']}/trace")
            assert standing["trace"] == trace["trace"] == outcome["trace"]
            assert (await web.node.journal.find(outcome["trace"].upper())).id == outcome["run"]
            assert trace["spans"][0]["kind"] == "run"
        stored = await web.node.journal.find("T-9")
        assert stored.trace == TRACE + SPAN, "so that its spans stand below the caller's"
        headers = {"traceparent": f"00-{OTHER}-{SPAN}-00"}
        _, unsampled = await web.ask("POST", "/tickets?wait=20", json={"text": "Mine."}, headers=headers)
        assert unsampled["trace"] == OTHER
        assert (await web.node.journal.find(OTHER)).id == unsampled["run"]


async def test_no_other_id_is_taken_for_a_trace() -> None:
    assert read_trace_id("T-1") == ""
    assert read_trace_id("0" * 32) == ""
    assert read_trace_id(f" {TRACE} ") == TRACE


async def test_a_trace_says_in_json_what_kind_each_span_is_of(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        outcome = await web.submit(wait=20)
        _, trace = await web.ask("GET", f"/tickets/{outcome['ticket']}/trace")
        _, api = await web.ask("GET", "/openapi.json")

    assert {"run", "agent"} <= {each["kind"] for each in trace["spans"]}
    assert "kind" in api["components"]["schemas"]["TraceSpan"]["properties"]
    assert msgspec.json.encode(trace)
