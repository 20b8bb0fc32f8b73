"""A ticket is resolved by any server that can, in few requests; one that cannot costs its time once."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.drafting.drafts import Draft
from actors.helpdesk.output_schemas import Summary
from actors.ports import Completion, ModelFailed
from actors.workflow.outcome import Outcome
from runtime.llm.errors import OutOfService
from runtime.llm.fallback import Fallback
from runtime.llm.output_schema import Malformed, schema_of
from runtime.tickets import Ticket
from tests.clock import Jumping
from tests.fake_openai import FakeOpenAI, Step, fails, hangs, says, sends
from tests.runtime.families.modelled import thinking
from tests.runtime.families.test_research_runs import QUESTION
from tests.runtime.llm.foreign import SERVERS, SHAPES, chat, error
from tests.runtime.llm.kit import KEY, Answers, model_at, task


async def resolve(folder: Path, step: Step, **model: Any) -> tuple[Outcome, FakeOpenAI]:
    async with FakeOpenAI(step) as server, thinking(folder, server, **model) as node:
        return await (await node.submit(Ticket(id="T-1", text=QUESTION))).outcome(), server


@pytest.mark.parametrize("name", SERVERS)
async def test_a_ticket_is_resolved_in_few_requests(name: str, tmp_path: Path) -> None:
    step, most = SERVERS[name]

    outcome, server = await resolve(tmp_path, step, call_seconds=60.0)

    assert (outcome.status, outcome.degraded) == ("resolved", "")
    assert outcome.resolution is not None
    assert outcome.resolution.citations
    assert len(server.bodies) <= most


@pytest.mark.parametrize("name", SHAPES)
def test_an_answer_is_read_however_a_model_writes_it(name: str) -> None:
    claims = [{"text": "Restart it.", "passage": 1, "quote": "restart it"}]
    value = schema_of(Draft).decode(SHAPES[name](json.dumps({"claims": claims, "pass_on": None})))
    assert [each.text for each in value.claims] == ["Restart it."]


def test_null_for_a_list_is_an_empty_one() -> None:
    assert schema_of(Draft).decode('{"claims": null, "pass_on": null}') == Draft()


@pytest.mark.parametrize("text", ["{}", '{"answer": "Restart it."}', '{"pass_on": null}', '{"answer": {"text": "x"}}'])
def test_an_answer_without_its_key_is_no_not_found(text: str) -> None:
    with pytest.raises(Malformed, match="the key `claims` is missing"):
        schema_of(Draft).decode(text)


async def test_a_repair_shows_the_schema() -> None:
    async with FakeOpenAI(says({"answer": "x"}), says({"claims": []})) as server, model_at(server) as model:
        assert (await model.fill(Draft, task(), within=100)).value == Draft()
    asked = server.bodies[1]["messages"][-1]["content"]
    assert "the key `claims` is missing" in asked
    assert '"required":["claims","pass_on","ask_back"]' in asked


async def test_only_a_server_that_is_known_to_keep_to_a_schema_is_not_shown_it() -> None:
    async with FakeOpenAI(says({"summary": "Solved."})) as server, model_at(server) as model:
        await model.fill(Summary, task(), within=100)
        model.enforces_schema = True
        await model.fill(Summary, task(), within=100)
    shown = ["JSON schema" in body["messages"][0]["content"] for body in server.bodies]
    assert shown == [True, False]
    async with model_at("https://api.openai.com/v1") as model:
        assert model.enforces_schema


async def test_one_unexplained_refusal_changes_nothing_for_later_requests() -> None:
    odd = fails(400, "Failed to generate JSON. Please adjust your prompt.", code="json_validate_failed")
    good = says({"summary": "Solved."})
    async with FakeOpenAI(odd, good) as server, model_at(server) as model:
        for _ in range(2):
            await model.fill(Summary, task(), within=100)
    kinds = [body.get("response_format", {}).get("type") for body in server.bodies]
    assert kinds == ["json_schema", "json_object", "json_schema"]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (fails(400, "The response was filtered", code="content_filter"), "content filter.*a person has to answer"),
        (sends(b'[{"error": {"message": "API key not valid", "code": 400}}]', status=401), "refused the key"),
        (sends(b'{"error": {"message": "Provider returned error", "code": 402, "metadata": {"raw": "no credit"}}}'),
         "no credit left for this key .*Provider returned error; no credit"),
        (fails(400, "Invalid model name passed in model=fake-model"), "has no model fake-model"),
        (sends(b'{"detail": "Model is loading"}', status=413), "status 413 .Model is loading"),
    ],
)  # fmt: skip
async def test_what_no_other_form_helps_against_is_asked_once_and_said(step: Step, sentence: str) -> None:
    async with FakeOpenAI(step) as server, model_at(server) as model:
        with pytest.raises(ModelFailed, match=sentence):
            await model.fill(Summary, task(), within=100)
    assert len(server.bodies) == 1


async def test_an_error_with_a_good_status_is_tried_again_like_any_other() -> None:
    busy = sends(json.dumps(error("Upstream is overloaded", code=503)).encode())
    async with FakeOpenAI(busy, says({"summary": "Solved."})) as server, model_at(server) as model:
        assert (await model.fill(Summary, task(), within=100)).value.summary == "Solved."
    assert len(server.bodies) == 2


async def test_a_server_that_refuses_every_form_is_not_asked_in_all_of_them_at_each_step(tmp_path: Path) -> None:
    with capture_logs() as lines:
        outcome, server = await resolve(tmp_path, fails(400, "no"))
    assert outcome.status == "suggested"
    assert outcome.degraded == "model_failed"
    assert any("did not accept the request" in each.get("reason", "") for each in lines)
    assert len(server.bodies) <= 7


async def test_a_hung_server_costs_its_time_once_a_run() -> None:
    clock = Jumping()
    async with FakeOpenAI(hangs()) as server, model_at(server, clock) as model:
        run = model.for_run("run-1")
        call = asyncio.create_task(run.fill(Summary, task(), within=500))
        await server.until(lambda: len(server.bodies) == 1)
        await clock.jump(120)
        with pytest.raises(OutOfService, match="did not answer within 120 s"):
            await call
        with pytest.raises(ModelFailed, match="did not answer within 120 s"):
            await run.fill(Summary, task(), within=500)
        assert clock.now == 120
        assert len(server.bodies) == 1


async def test_a_hung_server_costs_its_time_once_where_an_agent_has_less_than_a_call() -> None:
    clock = Jumping()
    async with FakeOpenAI(hangs()) as server, model_at(server, clock) as model:
        both = Fallback(model.for_run("run-1"), Answers(Completion(Summary("Quoted."))), clock)
        with capture_logs() as lines:
            call = asyncio.create_task(both.fill(Summary, task(), within=60))
            await server.until(lambda: len(server.bodies) == 1)
            await clock.jump(55)
            degraded = (await call).degraded, (await both.fill(Summary, task(), within=60)).degraded
        assert degraded == ("model_failed", "model_failed")
        why = [each["reason"] for each in lines if each["event"] == "model.degraded"]
        assert ["did not answer within 55 s" in each for each in why] == [True, True]
        assert clock.now == 55


async def test_a_server_that_asks_to_be_left_alone_is_waited_for_in_one_step_only() -> None:
    step = fails(429, "slow down", headers={"Retry-After": "40"})
    async with FakeOpenAI(step) as server, model_at(server) as model:
        run = model.for_run("run-1")
        for _ in range(3):
            with pytest.raises(ModelFailed, match="asked too much"):
                await run.fill(Summary, task(), within=500)
        assert len(server.bodies) == 3, "the tries of one call"


async def test_what_usage_says_is_bounded_by_what_was_sent() -> None:
    usage = {"prompt_tokens": 9_000_000, "completion_tokens": 9_000_000}
    async with FakeOpenAI(says({"summary": "Solved."}, usage=usage)) as server, model_at(server) as model:
        await model.fill(Summary, task(), within=100)
    spent = model.total.spent
    assert spent.estimated
    assert spent.tokens_in < 6_000
    assert spent.tokens_out < 17_000


async def test_an_address_with_a_version_behind_it_is_called_as_it_is_meant() -> None:
    server = FakeOpenAI(says({"summary": "Solved."}))
    async with server, model_at(f"{server.url}?api-version=2024-10-21") as model:
        assert (await model.fill(Summary, task(), within=100)).value.summary == "Solved."
    assert server.headers[0]["api-key"] == KEY
    assert server.paths == ["/v1/chat/completions?api-version=2024-10-21"]


async def test_whom_a_worker_may_name_stands_in_the_schema(tmp_path: Path) -> None:
    _, server = await resolve(tmp_path, chat())
    schemas = {body["response_format"]["json_schema"]["name"]: body["response_format"]["json_schema"]["schema"]
               for body in server.bodies}  # fmt: skip
    to = schemas["Draft"]["properties"]["pass_on"]["anyOf"][0]["properties"]["to"]
    assert {"network", "billing", "accounts"} <= set(to["enum"])
    assert "other" in schemas["Analysis"]["properties"]["intent"]["enum"]


async def test_a_worker_that_names_nobody_there_is_answers_itself(tmp_path: Path) -> None:
    async def step(server: FakeOpenAI, request: Any) -> Any:
        body = json.loads(await request.text())
        told = "You cannot pass this on" in json.dumps(body["messages"])
        if told or '"Draft"' not in json.dumps(body["response_format"]):
            return await chat()(server, request)
        return await says({"claims": [], "pass_on": {"to": "the wizard", "reason": "He knows."}})(server, request)

    outcome, server = await resolve(tmp_path, step)

    assert (outcome.status, outcome.degraded) == ("resolved", "")
    assert len(server.bodies) == 5
