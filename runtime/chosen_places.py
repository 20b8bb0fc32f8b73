"""Whether a person who calls an answer right has said which of its places was, as far as there is a choice."""

from collections.abc import Sequence

from actors.evidence.claims import Citation
from runtime.service_error import ServiceError


def check_choice(ticket: str, shown: Sequence[Citation], chosen: Sequence[int], *, right: bool) -> None:
    """
    Compare the numbers of the places that were chosen with those that an answer shows.

    :raises ServiceError: nothing was chosen of several, or what is not shown.
    """
    numbers = [each.number for each in shown]
    if chosen and not right:
        raise ServiceError("A place can only be named of an answer that was right.")
    if unknown := [each for each in chosen if each not in numbers]:
        has = f"it shows {', '.join(map(str, numbers))}" if numbers else "it shows none to choose from"
        raise ServiceError(f"The answer to {ticket} shows no place {unknown[0]}: {has}.")
    if len(numbers) > 1 and not chosen:
        raise ServiceError(
            f"The answer to {ticket} shows {len(numbers)} places: say which of them was right, with --place N on the "
            'command line or "places": [N] over HTTP.'
        )
