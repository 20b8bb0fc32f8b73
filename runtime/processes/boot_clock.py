"""A clock that nobody sets: it goes on while the machine sleeps, and only a boot begins it anew."""

import contextlib
import functools
import time
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
BOOT_CHARACTERS = 8


def since_boot() -> tuple[str, float]:
    """Which boot this is, and the seconds since; the name is empty where the system does not tell it."""
    boot = _boot()
    return (boot, time.clock_gettime(time.CLOCK_BOOTTIME)) if boot else ("", 0.0)


@functools.cache
def _boot() -> str:
    with contextlib.suppress(OSError):
        if hasattr(time, "CLOCK_BOOTTIME"):
            return BOOT_ID.read_text(encoding="ascii")[:BOOT_CHARACTERS]
    return ""
