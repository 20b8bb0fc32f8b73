"""The attacks of bench.faults that are quick enough to be made each time."""

from pathlib import Path

from bench.faults.strangers import backlog
from tests.patience import promised

OPEN = 150
"""What ten thousand show, too, which `python -m bench.faults --only backlog` starts on."""


async def test_a_daemon_that_starts_on_many_open_tickets_is_soon_ready_and_ends_them_all_and_new_ones(
    tmp_path: Path,
) -> None:
    figures = await backlog(tmp_path, OPEN)

    assert (figures["left"], figures["new tickets answered"]) == (0, 10)
    assert figures["the slowest within seconds"] <= figures["all over after seconds"]
    assert figures["silent seconds"] < promised(5.0)
    assert figures["ready after seconds"] < promised(10.0)
    assert figures["peak megabytes"] < 300
