"""JMESPath expressions of adapter files, with the few functions that payloads of helpdesks need besides."""

import functools
from collections.abc import Callable
from typing import Any

from runtime.intake.html_text import read_text

MOST_JOINED = 5_000
TWO_TEXTS = ({"types": ["string"]}, {"types": ["string"]})
Query = Callable[[Any], Any]


class AdapterError(Exception):
    """An adapter file cannot be used. One sentence: which, where in it, and what is wrong."""


def compile_query(query: str) -> Query:
    """
    Compile an expression: what it gives of a value, nothing where it does not fit the value.

    :raises AdapterError: it is none.
    """
    _compile(query)
    return functools.partial(search, query)


def search(query: str | None, value: Any) -> Any:
    """What an expression gives of a value; None: nothing, or there is no expression."""
    return None if query is None else explain(query, value)[0]


def explain(query: str, value: Any) -> tuple[Any, str]:
    """What an expression gives of a value, and why it gives nothing where it does not fit it."""
    import jmespath

    try:
        return _compile(query)(value), ""
    except jmespath.exceptions.JMESPathError as error:
        return None, str(error).strip().split("\n")[0]
    except RecursionError:
        return None, "the value is nested too deeply"


@functools.lru_cache(maxsize=512)
def _compile(query: str) -> Query:
    """Compile an expression, once a process."""
    import jmespath  # only where a helpdesk is connected

    try:
        compiled = jmespath.compile(query)
    except jmespath.exceptions.JMESPathError as error:
        said = str(error).strip().split("\n")[0].rstrip(".")
        raise AdapterError(f"{query!r} is no JMESPath expression: {said}.") from None
    except (RecursionError, ValueError):  # a number of thousands of digits, too
        raise AdapterError(f"{query[:80]!r} is nested too deeply, or too long: write a shorter expression.") from None
    options = _make_options()

    def find(value: Any) -> Any:
        return compiled.search(value, options=options)

    return find


@functools.cache
def _make_options() -> Any:
    """The functions that expressions have besides those of JMESPath."""
    import jmespath

    class HelpdeskFunctions(jmespath.functions.Functions):  # type: ignore[misc] # it has no types
        """`join_on`, `split`, `cut` and `plain`."""

        @jmespath.functions.signature({"types": ["array", "null"]}, {"types": ["array", "null"]}, *TWO_TEXTS)  # type: ignore[untyped-decorator]
        def _func_join_on(self, left: Any, right: Any, key: str, other: str) -> list[Any]:
            """Each of the left with that of the right, as `other`, of which the key is the same."""
            by_key = {str(each.get(other)): each for each in (right or ())[:MOST_JOINED] if isinstance(each, dict)}
            joined = [each for each in (left or ())[:MOST_JOINED] if isinstance(each, dict)]
            return [{**each, "other": by_key.get(str(each.get(key)))} for each in joined]

        @jmespath.functions.signature({"types": ["string", "null"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_split(self, text: str | None, mark: str) -> list[str]:
            """The parts between marks, without blanks around them."""
            return [part.strip() for part in (text or "").split(mark) if part.strip()]

        @jmespath.functions.signature({"types": ["string", "null"]}, {"types": ["number"]})  # type: ignore[untyped-decorator]
        def _func_cut(self, text: str | None, characters: float) -> str:
            """The beginning of a text."""
            return (text or "")[: int(characters)]

        @jmespath.functions.signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
        def _func_plain(self, html: str | None) -> str:
            """What HTML shows, as text."""
            return read_text(html or "")

    return jmespath.Options(custom_functions=HelpdeskFunctions())
