"""
Break each promise on purpose and see whether its tests notice: `python -m tests.mutate [ID|PREFIX ...]`.

The mutations are data, `tests/mutations/*.toml`; its README says how to add one. mutmut and cosmic-ray change whatever
they find, and cannot say which promise a change breaks, nor run only the tests that carry the id of that promise.
"""

import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests import ROOT
from tests.proofs import OPTIONS, PLACE, Proof

FOLDER = Path(__file__).parent / "mutations"
LEAST = 2
"""Mutations of an id: one alone may be killed by luck."""
SIDE_BY_SIDE = 2
SECONDS = 120.0
"""Tests that have not ended by then hang, which is a way of failing."""
UNMUTATED_SECONDS = 900.0
LEFT_OUT = shutil.ignore_patterns(".*", "bench", "deploy", "dist", "build", "*.egg-info")
FAILED = 1
"""How pytest ends when tests failed; anything but that and 0 means that they were not run."""


class Mutation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change of the product."""

    breaks: str
    """Its name: which behaviour is gone, in a few words."""
    file: str
    find: str
    """Stands in the file exactly once."""
    put: str
    """What stands there instead."""


Mutations = dict[str, tuple[Mutation, ...]]


class Verdict(NamedTuple):
    """What the tests of an id said to one mutation."""

    id: str
    mutation: str
    result: str
    seconds: float


def read() -> Mutations:
    """All mutations by the id that they break."""
    mutations: Mutations = {}
    for file in sorted(FOLDER.glob("*.toml")):
        mutations |= msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Mutations)
    return mutations


def find_faults(mutations: Mutations) -> list[str]:
    """What is wrong with the list itself, a sentence each."""
    faults = [
        f"{each} has {len(its)} mutations, and should have {LEAST}."
        for each, its in mutations.items()
        if len(its) < LEAST
    ]
    for each, its in mutations.items():
        for mutation in its:
            found = (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.find)
            if found != 1:
                faults.append(f"{each}, {mutation.breaks!r}: its text stands {found} times in {mutation.file}.")
    return faults


def is_meant(some_id: str, words: Sequence[str]) -> bool:
    """Whether an id is one of these words, or begins with one: HD, HD-3 and HD-3.1 all mean HD-3.1."""
    return not words or any(some_id == word or some_id.startswith((f"{word}-", f"{word}.")) for word in words)


def copy_tree(to: Path) -> Path:
    """A tree to mutate, with the times of its files, so that what is compiled stays good."""
    shutil.copytree(ROOT, to, ignore=LEFT_OUT)
    return to


def run(tree: Path, words: Iterable[str], seconds: float) -> tuple[int | None, str]:
    """How a program of Python ended in a tree, and what it said; None: not in time, so it was killed."""
    popen = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", *words], cwd=tree, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        # Nothing compiled of a mutant may be taken for what was there before.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)},
    )  # fmt: skip
    try:
        said, _ = popen.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if popen.returncode is None:
            os.killpg(popen.pid, signal.SIGKILL)
            popen.communicate()
    return popen.returncode, said


def prove(tree: Path, ids: Iterable[str]) -> tuple[list[Proof], str]:
    """The tests of these ids, run as the product is."""
    report = tree.parent / "proofs.json"
    _, said = run(tree, ("tests.proofs", str(report), *ids), UNMUTATED_SECONDS)
    return msgspec.json.decode(report.read_bytes(), type=list[Proof]) if report.exists() else [], said


def judge(tree: Path, some_id: str, mutation: Mutation, tests: Sequence[str]) -> Verdict:
    """Mutate a tree, run the tests of the id, and put back what was there."""
    began, at = time.monotonic(), tree / mutation.file
    before, times = at.read_text(encoding="utf-8"), at.stat()
    at.write_text(before.replace(mutation.find, mutation.put), encoding="utf-8")
    try:
        temporary = f"--basetemp={tree.parent / tree.name}-tmp"
        status, said = run(tree, ("pytest", "-x", *OPTIONS, "--tb=no", temporary, *tests), SECONDS)
    finally:
        at.write_text(before, encoding="utf-8")
        os.utime(at, ns=(times.st_atime_ns, times.st_mtime_ns))
    if status is None:
        result = "killed by time"
    elif status == FAILED:
        result = "killed"
    else:
        result = "SURVIVED" if status == 0 else f"NOT RUN: {said.strip()[-500:]}"
    return Verdict(some_id, mutation.breaks, result, time.monotonic() - began)


def show(verdict: Verdict) -> None:
    print(f"{verdict.id:8} {verdict.mutation:72} {verdict.result:14} {verdict.seconds:6.1f} s", flush=True)


def main(words: Sequence[str]) -> int:
    mutations = {each: its for each, its in read().items() if is_meant(each, words)}
    if not mutations:
        print(f"There are no mutations of {' '.join(words)}.")
        return 2
    faults = find_faults(mutations)
    if faults:
        print("\n".join(faults))
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        first = copy_tree(Path(folder) / "0")
        proofs, said = prove(first, mutations)
        faults = [f"{proof.test} fails as the product is." for proof in proofs if not proof.passed]
        tests = {each: [proof.test for proof in proofs if each in proof.ids] for each in mutations}
        faults += [f"No test in {PLACE} carries {each}." for each, its in tests.items() if not its]
        if faults:
            print(said, *faults, sep="\n")
            return 1
        trees.put(first)
        for number in range(1, SIDE_BY_SIDE):
            trees.put(copy_tree(Path(folder) / str(number)))

        def take(some_id: str, mutation: Mutation) -> Verdict:
            tree = trees.get()
            try:
                verdict = judge(tree, some_id, mutation, tests[some_id])
            finally:
                trees.put(tree)
            show(verdict)
            return verdict

        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            verdicts = list(pool.map(lambda order: take(*order), [(i, m) for i, its in mutations.items() for m in its]))
    left = [each for each in verdicts if not each.result.startswith("killed")]
    print(f"{len(verdicts)} mutations of {len(mutations)} ids: {len(verdicts) - len(left)} killed, {len(left)} not.")
    for each in left:
        print(f"  {each.id}: {each.mutation}: {each.result}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
