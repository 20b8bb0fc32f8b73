"""A data folder that is full, or can only be read: it says why, keeps what it took, and goes on once there is room."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.engine.service import open_service
from runtime.service_error import ServiceError
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Interface, interface, sentence, settings, until

MEGABYTES = 12
TEXT = "My VPN drops every hour. " * 200


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own that is soon full."""
    mount, place = shutil.which("mount"), tmp_path / "disk"
    if sys.platform != "linux" or os.geteuid() != 0 or mount is None:
        pytest.skip("only root of a Linux system can make a small disk")
    place.mkdir()
    made = subprocess.run(  # noqa: S603 - our own words
        [mount, "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("this system lets nobody mount a disk here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)  # noqa: S603, S607 - what was mounted above


def fill(place: Path) -> Path:
    """Take all the room that is left."""
    taken = place / "taken"
    with contextlib.suppress(OSError), taken.open("ab", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
    return taken


async def see(web: Interface) -> tuple[int, Any]:
    web.desk.looks._seen = None
    return await web.ask("GET", "/health/ready")


async def test_what_was_taken_outlives_a_full_disk_and_what_was_refused_was_not_taken(small_disk: Path) -> None:
    taken, refused = dict[str, str](), list[str]()
    async with interface(small_disk, free_megabytes=1) as web:
        for n in range(3):
            taken[f"T-{n}"] = (await web.submit(f"{TEXT}{n}", id=f"T-{n}", wait=20))["status"]
        assert (await see(web))[0] == 200

        # when the disk is full
        filler = await asyncio.to_thread(fill, small_disk)
        status, said = await see(web)
        assert (status, "MB left" in said["why"], "make room" in said["why"]) == (503, True, True)

        # then tickets are refused, from that on which has no room any more
        for n in range(3, 100):
            status, answer = await web.ask("POST", "/tickets", json={"text": f"{TEXT}{n}", "id": f"T-{n}"})
            if status == 202:
                taken[f"T-{n}"] = ""
            else:
                assert status == 503
                sentence(answer)
                refused.append(f"T-{n}")
            if len(refused) == 3:
                break
        assert len(refused) == 3
        status, said = await see(web)
        assert (status, bool(said["why"])) == (503, True)
        assert (await web.ask("GET", "/tickets/T-0"))[1]["outcome"]["status"] == taken["T-0"], "it still tells"

        # and when there is room again it goes on, though nobody starts it anew
        filler.unlink()
        async with asyncio.timeout(HANGS_SECONDS):
            while (await see(web))[0] != 200:
                continue
        for name in refused:
            assert (await web.ask("GET", f"/tickets/{name}"))[0] == 404
        taken["T-new"] = (await web.submit("It works again?", id="T-new", wait=20))["status"]
        await until(lambda: web.node.live == 0)

    # nor is anything gone at the next start
    async with interface(small_disk, free_megabytes=1) as web:
        for name, end in taken.items():
            known = (await web.ask("GET", f"/tickets/{name}"))[1]
            assert known["ended"], known
            assert known["outcome"]["status"] == (end or known["status"])
        assert {each.ticket for each in await web.node.journal.latest(999)} == set(taken)


async def test_a_folder_that_can_only_be_read_is_said_at_the_start_and_used_once_it_can_be_written(
    small_disk: Path,
) -> None:
    async with interface(small_disk) as web:
        ended = (await web.submit(TEXT, id="T-1", wait=20))["status"]
    remount(small_disk, "ro")
    with pytest.raises(ServiceError, match=r"Nothing can be written below .*\[storage\] folder"):
        async with open_service(settings(small_disk)):
            pass

    remount(small_disk, "rw")
    async with interface(small_disk) as web:
        assert (await web.ask("GET", "/tickets/T-1"))[1]["outcome"]["status"] == ended


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)  # noqa: S603, S607 - what is ours
