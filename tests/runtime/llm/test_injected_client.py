"""The HTTP client is passed in: with an `httpx.AsyncClient`, respx sees every request and no socket is opened."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import respx

from actors.helpdesk.output_schemas import Summary
from actors.ports import ModelFailed
from runtime.llm.openai_model import OpenAIModel
from runtime.settings import ModelSettings
from tests.fake_openai import USAGE, completion
from tests.runtime.llm.kit import KEY, Skipping, task

URL = "https://models.example/v1"
GOOD = httpx.Response(200, content=completion({"content": '{"summary": "Solved."}'}, usage=USAGE))


@pytest.fixture
def route() -> Iterator[respx.Route]:
    with respx.mock(assert_all_called=False) as router:
        yield router.post(f"{URL}/chat/completions")


@pytest.fixture
async def model() -> AsyncIterator[OpenAIModel]:
    settings = ModelSettings(base_url=URL, api_key=KEY, name="fake-model")
    model = OpenAIModel(settings, http_client=httpx.AsyncClient, clock=Skipping())
    yield model
    await model.close()


async def test_the_request_goes_through_the_client_that_was_given(route: respx.Route, model: OpenAIModel) -> None:
    route.return_value = GOOD
    assert (await model.fill(Summary, task(), within=100)).value == Summary(summary="Solved.")
    request = route.calls.last.request
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("nonsense"),
        httpx.Response(502),
    ],
)
async def test_cables_are_tried_again(
    route: respx.Route, model: OpenAIModel, fault: Exception | httpx.Response
) -> None:
    route.side_effect = [fault, GOOD]
    assert (await model.fill(Summary, task(), within=100)).value == Summary(summary="Solved.")
    assert route.call_count == 2


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (httpx.ConnectError("refused"), "cannot be reached"),
        (httpx.ConnectTimeout("slow"), "does not answer"),
        (httpx.ReadError("reset"), "broke off"),
    ],
)
async def test_each_cable_has_its_sentence(
    route: respx.Route, model: OpenAIModel, fault: Exception, sentence: str
) -> None:
    route.side_effect = fault
    with pytest.raises(ModelFailed, match=sentence):
        await model.fill(Summary, task(), within=100)


async def test_a_date_in_retry_after_is_understood(route: respx.Route, model: OpenAIModel) -> None:
    past = {"Retry-After": "Wed, 18 Nov 2020 11:06:50 GMT"}
    route.side_effect = [httpx.Response(429, headers=past), GOOD]
    assert (await model.fill(Summary, task(), within=100)).value == Summary(summary="Solved.")
