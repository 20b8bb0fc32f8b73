"""A data folder lost or damaged under a daemon: it says so, takes nothing, lives on, and nothing taken is lost."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.storage.private import DATABASE
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Held, Interface, interface, sentence

MEGABYTES = 48


def call(*words: str) -> bool:
    """Whether a command of the system did what it should."""
    return subprocess.run(words, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own words


@pytest.fixture
def failing_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, which can be made to give up as after an error of the disk."""
    place, image = tmp_path / "disk", tmp_path / "image"
    if sys.platform != "linux" or os.geteuid() != 0 or not (shutil.which("mkfs.ext4") and shutil.which("mount")):
        pytest.skip("only root of a Linux system can make a disk that fails")
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(MEGABYTES * 1_000_000)
    if not (call("mkfs.ext4", "-q", str(image)) and mount(image, place)):
        pytest.skip("this system lets nobody mount a disk here")
    try:
        yield place
    finally:
        call("umount", "-l", str(place))


def mount(image: Path, place: Path) -> bool:
    """Whether it could be mounted."""
    return call("mount", "-o", "loop,errors=remount-ro", str(image), str(place))


async def see(web: Interface) -> tuple[int, Any]:
    web.desk.looks._seen = None
    return await web.ask("GET", "/health/ready")


async def refuse(web: Interface, name: str) -> None:
    """A new ticket is not taken, and who sent it hears when to come again."""
    async with web.client.post("/tickets", json={"text": "My VPN drops.", "id": name}) as response:
        assert (response.status, int(response.headers["Retry-After"]) > 0) == (503, True)
        sentence(await response.json())


async def test_a_disk_that_is_made_read_only_under_a_daemon(failing_disk: Path) -> None:
    async with interface(failing_disk, free_megabytes=1) as web:
        ended = (await web.submit(id="T-1", wait=20))["status"]
    model = Held()
    async with interface(failing_disk, model=model, free_megabytes=1) as web:
        await web.submit(id="T-0")
        await model.asked.wait()
        assert (await see(web))[0] == 200

        if not call("mount", "-o", "remount,abort", str(failing_disk)):
            pytest.skip("this kernel has no file system that gives up when told")

        await refuse(web, "T-2")
        status, said = await see(web)
        assert (status, "look at the disk" in said["why"]) == (503, True)
        await refuse(web, "T-3")
        assert (await web.ask("GET", "/health/live"))[0] == 200
        assert (await web.ask("GET", "/tickets/T-1"))[1]["outcome"]["status"] == ended, "it still tells"

    # nor is anything gone once the disk was mounted again
    assert call("umount", "-l", str(failing_disk))
    assert mount(failing_disk.with_name("image"), failing_disk)
    async with interface(failing_disk, free_megabytes=1) as web:
        assert (await see(web))[0] == 200
        assert (await web.ask("GET", "/tickets/T-1"))[1]["outcome"]["status"] == ended
        assert [(await web.ask("GET", f"/tickets/{name}"))[0] for name in ("T-2", "T-3")] == [404, 404]
        async with asyncio.timeout(HANGS_SECONDS):
            while not (found := (await web.ask("GET", "/tickets/T-0"))[1])["ended"]:
                continue
        assert found["outcome"]["status"] == ended, "it was under way, and is gone on with"
        assert (await web.submit(id="T-4", wait=20))["status"] == ended


async def test_a_database_that_can_only_be_read_is_written_again_as_soon_as_it_can_be(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        ended = (await web.submit(id="T-1", wait=20))["status"]
        web.node.database._writing.execute("PRAGMA query_only = 1")  # the same error, on any system
        await refuse(web, "T-2")
        status, said = await see(web)
        assert (status, "readonly" in said["why"], "look at the disk" in said["why"]) == (503, True, True)

        web.node.database._writing.execute("PRAGMA query_only = 0")
        async with asyncio.timeout(HANGS_SECONDS):
            while (await see(web))[0] != 200:
                continue
        assert (await web.ask("GET", "/tickets/T-2"))[0] == 404
        assert (await web.submit(id="T-3", wait=20))["status"] == ended


async def test_bytes_of_the_database_are_overwritten_under_a_daemon(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        await web.submit(id="T-1", wait=20)
        for reader in (web.node.database._writing, *web.node.database._readers):
            reader.execute("PRAGMA cache_size = 0")
        web.node.database._writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with (web.node.folder / DATABASE).open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (os.fstat(file.fileno()).st_size - 4096))

        await refuse(web, "T-2")
        status, said = await see(web)
        assert (status, "database" in said["why"], ":" in said["why"]) == (503, True, True)
        assert (await web.ask("GET", "/health/live"))[0] == 200
