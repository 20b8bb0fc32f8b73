"""
CPU of one model call against the bare SDK with its own aiohttp client, at 50 and 500 calls at once.

Both run in this process, in turn, with medians over rounds; the server is another process. `--json` prints one object.
"""

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from actors.helpdesk.output_schemas import Summary, SummaryRequest
from actors.ports import ModelFailed, ModelRequest
from runtime.llm.openai_model import OpenAIModel
from runtime.settings import ModelSettings

ROOT = Path(__file__).resolve().parent.parent
INSTRUCTIONS = "You are the ticketing agent of a helpdesk. " * 10
TICKET = "The printer on floor 13 howls at midnight. " * 10
TASK = ModelRequest(agent="summarization", instructions=INSTRUCTIONS, material=SummaryRequest(TICKET))
Call = Callable[[], Awaitable[object]]


async def cpu_us(call: Call, calls: int, at_once: int) -> float:
    """Microseconds of this process's CPU per call."""
    left = calls

    async def lane() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            assert await call()

    gc.collect()
    began = time.process_time()
    await asyncio.gather(*(lane() for _ in range(at_once)))
    return (time.process_time() - began) / calls * 1e6


async def measure(port: int, rounds: int) -> dict[str, dict[str, float]]:
    import openai

    url = f"http://127.0.0.1:{port}/v1"
    settings = ModelSettings(base_url=url, api_key="k", name="fake", concurrency=1000, ticket_tokens=0)
    model = OpenAIModel(settings)
    client = openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0, http_client=openai.DefaultAioHttpClient())
    messages: Any = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": TICKET}]

    async def ours() -> object:
        return (await model.for_run("run").fill(Summary, TASK, within=60.0)).value.summary

    async def bare() -> object:
        return (await client.chat.completions.create(model="fake", messages=messages)).choices[0].message.content

    result: dict[str, dict[str, float]] = {}
    for at_once in (50, 500):
        calls = 600 if at_once == 50 else 1000
        await cpu_us(ours, at_once * 2, at_once)
        await cpu_us(bare, at_once * 2, at_once)
        pairs: list[tuple[float, float]] = []
        for number in range(rounds):
            first, second = (ours, bare) if number % 2 else (bare, ours)
            figures = {first: await cpu_us(first, calls, at_once), second: await cpu_us(second, calls, at_once)}
            pairs.append((figures[ours], figures[bare]))
        result[f"at_{at_once}"] = {
            "ratio": round(statistics.median(mine / theirs for mine, theirs in pairs), 3),
            "ours_us": round(statistics.median(mine for mine, _ in pairs), 1),
            "bare_us": round(statistics.median(theirs for _, theirs in pairs), 1),
        }
    await model.close()
    await client.close()
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds of which the median is taken")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options = parser.parse_args()
    command = [sys.executable, "-m", "tests.fake_openai"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            result = asyncio.run(measure(int(server.stdout.readline()), options.rounds))
        except (ValueError, AssertionError, ModelFailed, OSError) as error:
            print(f"could not measure: {error!r}", file=sys.stderr)
            return 1
        finally:
            server.kill()
    if options.json:
        print(json.dumps(result))
        return 0
    print(f"{'calls at once':>14} {'ours':>10} {'bare SDK':>10} {'ratio':>7}")
    for key, row in result.items():
        print(f"{key[3:]:>14} {row['ours_us']:>7.0f} us {row['bare_us']:>7.0f} us {row['ratio']:>7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
