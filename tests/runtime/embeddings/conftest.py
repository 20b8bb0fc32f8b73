"""Worker processes under test, closed after each."""

from collections.abc import AsyncIterator

import pytest

from runtime.processes.pool import Workers


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    opened = Workers(size=2)
    yield opened
    opened.close()
