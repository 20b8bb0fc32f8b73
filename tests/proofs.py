"""Run the tests that prove requirements and say which proves which: `python -m tests.proofs REPORT ID ...`."""

import sys
from pathlib import Path

import msgspec
import pytest

from tests import ROOT

PLACE = "tests/requirements"
OPTIONS = ("-q", "-n", "0", "-p", "no:randomly")


class Proof(msgspec.Struct):
    """One test, the ids that it carries, and how it ended."""

    test: str
    ids: tuple[str, ...]
    passed: bool = False


class Prover:
    """A plugin of pytest: keeps the tests that carry one of these ids, and notes how they end."""

    def __init__(self, ids: frozenset[str]) -> None:
        self.ids = ids
        self.proofs: dict[str, Proof] = {}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        claims = {item.nodeid: tuple(each for mark in item.iter_markers("req") for each in mark.args) for item in items}
        self.proofs = {test: Proof(test, ids) for test, ids in claims.items() if self.ids.intersection(ids)}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in self.proofs])
        items[:] = [item for item in items if item.nodeid in self.proofs]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        proof = self.proofs[report.nodeid]
        if report.when == "call":
            proof.passed = report.passed
        elif report.failed:
            proof.passed = False


def main() -> int:
    report, *ids = sys.argv[1:]
    prover = Prover(frozenset(ids))
    status = pytest.main([*OPTIONS, str(ROOT / PLACE)], [prover])
    Path(report).write_bytes(msgspec.json.encode(list(prover.proofs.values())))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
