"""One call of a port as it is recorded: who asked what, when, and what came back. The protocols say the types."""

import collections.abc
import functools
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from actors.documents.template import Document
from actors.ports import BudgetSpent, Completion, ModelFailed, ModelRequest, PortFailed
from runtime.tools.tool import InvalidArguments

DIGEST_BYTES = 12
ABOUT_CHARACTERS = 120
TIMELESS = frozenset({"within"})
"""Arguments that say how long there is, which no two runs agree on."""
FAILURES = {each.__name__: each for each in (PortFailed, ModelFailed, BudgetSpent, InvalidArguments)}
FILL = "Model.fill"
"""What a model calls while it thinks is recorded, too: another model may call the same."""


class PortCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call, from the question to the answer. Times are seconds since the outermost run began."""

    run: str
    agent: str
    """Who asked; empty: nobody in particular, such as for the names of the sources."""
    order: int
    """The how-manieth call of the outermost run and all within it."""
    name: str
    """Of the port and its method, such as `Knowledge.search`."""
    digest: bytes
    """Of what was asked."""
    about: str
    """The beginning of that, for people."""
    begin: float
    end: float | None
    """None: there was no answer when the run ended."""
    answer: bytes = b""
    failure: tuple[str, str] | None = None
    """What was raised: the name of its class, and what it said."""
    heard: tuple[tuple[float, str, bytes], ...] = ()
    """What came before the answer: when, to which argument it was told, and what."""
    digests: tuple[bytes, ...] = ()
    """Of the passages that stand in the answer: see `shared_parts`."""
    omitted: bool = False
    """There was no room for the answer."""


class PortMethod(NamedTuple):
    """A method of a port, by its protocol."""

    name: str
    awaited: bool
    called: bool
    """False: a property."""
    result: Any
    listeners: Mapping[str, Any]
    """Arguments that are told what comes before the answer, with the type of that."""

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> "Question":
        """What is asked with these arguments."""
        known = (each for each in arguments if not callable(each) or isinstance(each, type))
        more = {key: named[key] for key in sorted(named) if key not in TIMELESS and key not in self.listeners}
        asked = [each.__name__ if isinstance(each, type) else each for each in known]
        try:
            return Question(digest(self.name, asked, more), clean(describe(asked)))
        except Exception:  # whatever cannot be written, such as half of a character: it is asked all the same
            return Question(b"", "")

    def encode(self, value: Any) -> bytes:
        """An answer, to be recorded."""
        return _encode([(type(each).__name__, each) for each in value] if _is_mixed(self.result) else value)

    def decode(self, body: bytes, arguments: Sequence[Any]) -> Any:
        """An answer as it was; of a model in the shape that these arguments ask for."""
        if self.result is Completion:
            completion = msgspec.msgpack.decode(body, type=Completion)
            return msgspec.structs.replace(
                completion,
                value=msgspec.convert(completion.value, arguments[0]),
                document=msgspec.msgpack.decode(body, type=_Made).document,
            )
        return decode(body, self.result)


class _Made(msgspec.Struct, frozen=True, gc=False):
    """Of a `Completion` what its port knows no type of."""

    document: Document | None = None


class Question(NamedTuple):
    """What was asked of a port."""

    digest: bytes
    about: str


def _encode_foreign(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return None if callable(value) else repr(value)


_encode = msgspec.msgpack.Encoder(enc_hook=_encode_foreign).encode
_encode_in_order = msgspec.msgpack.Encoder(enc_hook=_encode_foreign, order="deterministic").encode
encode = _encode


def digest(*asked: Any) -> bytes:
    """Equal for equal questions, in every process."""
    return blake2b(_encode_in_order(asked), digest_size=DIGEST_BYTES).digest()


def describe(asked: Sequence[Any]) -> str:
    """The beginning of a question, for people."""
    said = next((each for each in asked if isinstance(each, ModelRequest)), None)
    words = [f"{said.agent}: {asked[0]}"] if said else [_say(each) for each in asked]
    return " ".join(" ".join(words).split())[:ABOUT_CHARACTERS]


def clean(text: str) -> str:
    """A text that can be written: halves of characters are question marks."""
    return text.encode("utf-8", "replace").decode()


def _say(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode() if isinstance(value, msgspec.Struct) else ""


def _is_mixed(hint: Any) -> bool:
    """Whether these are several things of types that their fields do not tell apart."""
    arguments = typing.get_args(hint)
    return typing.get_origin(hint) is tuple and len(arguments) == 2 and isinstance(arguments[0], types.UnionType)


def decode(body: bytes, hint: Any) -> Any:
    """What `PortMethod.encode` made of a value of this type."""
    if not _is_mixed(hint):
        return msgspec.msgpack.decode(body, type=hint)
    known = {each.__name__: each for each in typing.get_args(typing.get_args(hint)[0])}
    parts = msgspec.msgpack.decode(body, type=list[tuple[str, msgspec.Raw]])
    return tuple(msgspec.msgpack.decode(part, type=known[name]) for name, part in parts)


@functools.cache
def find_method(protocol: Any, name: str) -> PortMethod:
    """
    A method or property of a port.

    :raises AttributeError: the protocol has none of this name.
    """
    found = inspect.getattr_static(protocol, name)
    function = found.fget if isinstance(found, property) else found
    hints = typing.get_type_hints(function)
    listeners = {
        key: typing.get_args(hint)[0][0]
        for key, hint in hints.items()
        if typing.get_origin(hint) is collections.abc.Callable
    }
    return PortMethod(
        f"{protocol.__name__}.{name}", inspect.iscoroutinefunction(function), not isinstance(found, property),
        hints.get("return", Any), listeners,
    )  # fmt: skip


def note_failure(error: Exception) -> tuple[str, str]:
    """What was raised, as it is recorded: agents know no other classes than those of the ports."""
    known = next((each.__name__ for each in type(error).__mro__ if each.__name__ in FAILURES), "")
    return known or type(error).__name__, clean(str(error))


def make_failure(noted: tuple[str, str]) -> Exception:
    """The same once more."""
    name, said = noted
    return FAILURES.get(name, RuntimeError)(said)
