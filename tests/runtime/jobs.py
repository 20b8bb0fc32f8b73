"""Functions for worker processes under test."""

import os
import time


def double(number: int) -> int:
    return 2 * number


def sleep(seconds: float) -> int:
    time.sleep(seconds)
    return 0


def fail(text: str) -> int:
    raise ValueError(text)


def die(status: int) -> int:
    os._exit(status)
