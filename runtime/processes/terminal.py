"""The terminal that a program was started in, and whether somebody has closed it since."""

import os

STANDARD = (0, 1, 2)


class Terminal:
    """What the standard streams were connected with when this was made."""

    def __init__(self) -> None:
        self._streams = [each for each in STANDARD if os.isatty(each)]

    def is_closed(self) -> bool:
        """Whether it was one, and is gone. What is written from then on goes nowhere, which would fail otherwise."""
        gone = [each for each in self._streams if not os.isatty(each)]
        if gone:
            nothing = os.open(os.devnull, os.O_RDWR)
            for each in gone:
                os.dup2(nothing, each)
            os.close(nothing)
        return bool(gone)
