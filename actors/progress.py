"""What is done at the moment, for those who watch: agents publish it, and nothing of it is journalled."""

from bus import Event


class Worked(Event, frozen=True):
    """An agent got on with its stage."""

    stage: str
    """The state of the workflow that it works on."""
    step: str
    """What it does, in a few words, such as "Reading pages"."""
    done: int = 0
    total: int = 0
    """0: not known."""
    item: str = ""
    """The one that was just completed, or is at work."""


class RoundBegan(Event, frozen=True):
    """A round of a research begins."""

    number: int
    of: int
    direction: str
    learnings: int
    """How many are known by now."""


Working = Worked | RoundBegan
