"""Only what stands in a folder is read from it, whatever is swapped for a link at whatever moment."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runtime.knowledge import FILE, folder_files, indexing_jobs
from runtime.knowledge.index import close_indexes, make_index

MOST = 1_000_000
ROUNDS = 3_000
SECRET = b"# Secret\n\nThe launch code is 4711 and nobody may know it.\n"
PLAIN = b"# Plain\n\nThe kettle stands in the kitchen on the second floor.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a document in it and in a folder of it, and beside it the same with a secret."""
    for place, text in (("inside", PLAIN), ("outside", SECRET)):
        (tmp_path / place / "sub").mkdir(parents=True)
        for name in ("a.md", "sub/a.md"):
            (tmp_path / place / name).write_bytes(text)
    return tmp_path.resolve() / "inside"


@contextmanager
def swapping(path: Path, target: Path) -> Iterator[None]:
    """Somebody puts a link in the place of something and takes it away, as fast as they can."""
    over = threading.Event()
    aside, link = path.with_name(f".{path.name}.aside"), path.with_name(f".{path.name}.link")
    link.symlink_to(target)

    def swap() -> None:
        while not over.is_set():
            path.rename(aside)
            link.rename(path)
            path.rename(link)
            aside.rename(path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(("swapped", "path"), [("a.md", "a.md"), ("sub", "sub/a.md"), ("sub/a.md", "sub/a.md")])
def test_what_is_swapped_for_a_link_to_elsewhere_is_not_read(root: Path, swapped: str, path: str) -> None:
    seen: dict[bytes, int] = {}
    with swapping(root / swapped, root.parent / "outside" / swapped):
        for _ in range(ROUNDS):
            try:
                data = folder_files.read_file(root, path, MOST)
            except OSError:
                continue
            seen[data] = seen.get(data, 0) + 1

    assert set(seen) <= {PLAIN}
    assert folder_files.read_file(root, path, MOST) == PLAIN


@pytest.mark.parametrize("swapped", ["a.md", "sub"])
def test_nor_does_it_get_into_the_index(root: Path, tmp_path: Path, swapped: str) -> None:
    database = str(tmp_path / FILE)
    with swapping(root / swapped, root.parent / "outside" / swapped):
        for _ in range(200):
            listed = indexing_jobs.listing(database, str(root))
            for path in ("a.md", "sub/a.md"):
                indexing_jobs.take(database, listed.folder, listed.root, path, 1.0, 10.0, "")
                assert b"4711" not in stored(database)
    close_indexes()


def stored(database: str) -> bytes:
    index = make_index(Path(database))
    return "".join(index.read(each.document, MOST) for each in index.list_names()).encode()


def test_a_link_to_a_document_of_the_folder_is_read_and_no_other(root: Path) -> None:
    (root / "same.md").symlink_to(root / "sub" / "a.md")
    (root / "near.md").symlink_to("sub/a.md")
    (root / "twice.md").symlink_to("same.md")
    (root / "out.md").symlink_to("../outside/a.md")
    (root / "round.md").symlink_to("round.md")
    (root / "gone.md").symlink_to("nowhere.md")
    (root / "way").symlink_to("sub")

    assert [folder_files.read_file(root, name, MOST) for name in ("same.md", "near.md", "twice.md")] == [PLAIN] * 3
    with pytest.raises(folder_files.Outside, match=folder_files.LEADS_OUT):
        folder_files.read_file(root, "out.md", MOST)
    for name in ("round.md", "gone.md", "way/a.md", "../outside/a.md", "nowhere.md"):
        with pytest.raises((OSError, RuntimeError)):
            folder_files.read_file(root, name, MOST)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def device(path: Path) -> None:
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))


@pytest.mark.parametrize("make", [pipe, folder, device], ids=lambda make: make.__name__)
def test_what_is_no_file_is_neither_read_nor_waited_for(root: Path, make: Callable[[Path], None]) -> None:
    try:
        make(root / "odd.md")
    except PermissionError:
        pytest.skip("only root may make devices here")

    with pytest.raises(folder_files.Outside, match=folder_files.NOT_REGULAR):
        folder_files.read_file(root, "odd.md", MOST)


def test_no_more_is_read_than_is_allowed(root: Path) -> None:
    (root / "large.md").write_bytes(b"x" * 1001)

    assert len(folder_files.read_file(root, "large.md", 1001)) == 1001
    with pytest.raises(folder_files.TooLarge):
        folder_files.read_file(root, "large.md", 1000)
    if Path("/proc/self/status").exists():  # a file that says that it is empty
        with pytest.raises(folder_files.TooLarge):
            folder_files.read_file(Path("/proc/self").resolve(), "status", 10)


def test_no_descriptor_is_left_open(root: Path) -> None:
    (root / "out.md").symlink_to("../outside/a.md")
    before = len([*Path("/proc/self/fd").iterdir()]) if Path("/proc/self/fd").exists() else 0
    for path in ("a.md", "sub/a.md", "out.md", "none/a.md", "sub", "sub/none.md") * 5:
        try:
            folder_files.read_file(root, path, MOST)
        except OSError:
            continue
    with folder_files.opened_folder(root, "sub/"):
        pass
    after = len([*Path("/proc/self/fd").iterdir()]) if before else 0

    assert after == before
