"""Schemathesis asks whatever the OpenAPI description allows, and what it does not: each answer is one that it names."""

import asyncio
import sys
from pathlib import Path

from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import TOKEN, interface

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "allow_header_conformance", "missing_required_header",
)  # fmt: skip
ENDLESS = "/events$"
"""What never ends by itself is for tests of its own."""
EXAMPLES = 5
"""For each operation, besides those at the edges of what its parameters and its body may be."""


async def test_every_answer_is_described_whatever_is_asked(tmp_path: Path) -> None:
    async with interface(tmp_path, token=TOKEN, requests_per_minute=1_000_000, request_burst=1_000_000) as web:
        await web.submit(id="T-1", wait=20)
        asked = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "schemathesis.cli", "run", f"{web.url}/openapi.json", "--no-color",
            "--checks", ",".join(CHECKS), "--exclude-path-regex", ENDLESS, "--max-examples", str(EXAMPLES),
            "--generation-deterministic", "--request-timeout", "20", "--header", f"Authorization: Bearer {TOKEN}",
            cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        try:
            said, _ = await asyncio.wait_for(asked.communicate(), 5 * HANGS_SECONDS)
        finally:
            if asked.returncode is None:
                asked.kill()
                await asked.wait()

        assert asked.returncode == 0, said.decode()
        assert (await web.ask("GET", "/health/ready"))[0] == 200
