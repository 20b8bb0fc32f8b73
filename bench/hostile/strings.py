"""
Hostile texts for a regular expression, made of its own parse tree.

Whatever it repeats is repeated, behind what must stand before it and in front of what it cannot go on with; so is what
must stand before it, for each place where a search may begin costs a walk through the rest.
"""

import re
from collections.abc import Iterator
from re import _compiler, _parser  # type: ignore[attr-defined]  # the only reader of expressions that Python has
from typing import Any, NamedTuple

COMMON = " \n\ta1-_.,:/\\\"'`*#>[](){}|<=+@&;!?·中가é\0"
"""What stands in most texts; of those that a pattern cannot tell apart, the first is taken."""
ENDS = ("", "\0", "\n", "!")
"""With one of them most patterns cannot go on."""
REPEATED = 8
"""A piece that may stand more often than this is repeated by the hostile text."""
SAMPLES = 4
"""So many different texts of a piece are tried."""
MOST_RECIPES = 200
REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


class Recipe(NamedTuple):
    """A text of any length: its beginning once, its middle again and again, its end once."""

    before: str
    middle: str
    after: str

    def cook(self, characters: int) -> str:
        return self.before + self.middle * max(1, characters // len(self.middle)) + self.after

    def cook_bytes(self, characters: int) -> bytes:
        return self.cook(characters).encode("latin-1")


def list_recipes(pattern: str | bytes, flags: int) -> list[Recipe]:
    """The texts that cost a pattern most, if any does; each middle is what it repeats, or what stands before that."""
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    tree = _parser.parse(text, flags & ~re.LOCALE & ~re.DEBUG)
    letters = _choose_letters(tree, flags)
    found = dict[Recipe, None]()
    for before, pieces, behind in _find_repeats(tree, "", letters):
        for piece in dict.fromkeys(each for each in pieces if each):
            for first in dict.fromkeys(("", before)):
                for end in ENDS:
                    found[Recipe(first, piece, end)] = None
            if before:
                found[Recipe("", before, "")] = None
                found[Recipe("", before + piece, "")] = None
                found[Recipe("", before + piece, "\0")] = None
            if behind:
                found[Recipe("", piece + behind, "")] = None
                found[Recipe("", before + piece + behind, "\0")] = None
    every = dict.fromkeys(found)
    for letter in letters:
        every[Recipe("", letter, "")] = None
        every[Recipe("", letter, "\0")] = None
        every[Recipe("x", letter, "x")] = None
    whole = _sample(tree, letters)
    for each in whole[:SAMPLES]:
        if each:
            every[Recipe("", each, "")] = None
            every[Recipe("", each[:-1] or each, "")] = None
            every[Recipe("", each + " ", "")] = None
    recipes = [each for each in every if each.middle]
    if len(recipes) > MOST_RECIPES:  # of each kind some, as they come
        recipes = recipes[:: -(-len(recipes) // MOST_RECIPES)]
    return [each for each in recipes if isinstance(pattern, str) or (each.before + each.middle + each.after).isascii()]


def _choose_letters(tree: Any, flags: int) -> list[str]:
    """One character of each kind that the pattern can tell apart."""
    sets = list(_list_sets(tree))
    literals = dict.fromkeys(chr(its) for name, its in _walk(tree) if name in ("LITERAL", "NOT_LITERAL"))
    matchers = []
    for each in sets[:60]:
        try:
            matchers.append(_compile(each, flags & (re.IGNORECASE | re.DOTALL | re.ASCII)))
        except (re.error, RecursionError):
            continue
    kinds = dict[tuple[bool, ...], str]()
    for letter in (*COMMON, *literals, *(each for one in sets[:60] for each in _members([one]))):
        kinds.setdefault(tuple(bool(each.fullmatch(letter)) for each in matchers), letter)
    few = list(literals)[:12] if len(literals) <= 40 else []
    return list(dict.fromkeys([*kinds.values(), *few, " ", "\n"]))[:40]


def _compile(operation: Any, flags: int) -> re.Pattern[str]:
    """One operation of a tree as a pattern."""
    state = _parser.State()
    state.flags = flags
    made: re.Pattern[str] = _compiler.compile(_parser.SubPattern(state, [operation]), flags)
    return made


def _members(one: Any) -> Iterator[str]:
    for name, its in _walk(one):
        match name:
            case "LITERAL":
                yield chr(its)
            case "RANGE":
                yield chr(its[0])


def _list_sets(tree: Any) -> Iterator[Any]:
    for name, its in _walk(tree):
        if name in ("IN", "ANY"):
            yield getattr(_parser, name), its


def _walk(items: Any) -> Iterator[tuple[str, Any]]:
    """Every operation of a tree with what belongs to it."""
    for operation, its in items:
        name = str(operation)
        yield name, its
        for each in _children(name, its):
            yield from _walk(each)
        if name == "IN":
            yield from ((str(kind), value) for kind, value in its)


def _children(name: str, its: Any) -> list[Any]:
    if name in REPEATS:
        return [its[2]]
    match name:
        case "BRANCH":
            return list(its[1])
        case "SUBPATTERN" | "ASSERT" | "ASSERT_NOT":
            return [its[-1]]
        case "ATOMIC_GROUP":
            return [its]
        case "GROUPREF_EXISTS":
            return [each for each in its[1:] if each]
    return []


def _find_repeats(items: Any, before: str, letters: list[str]) -> Iterator[tuple[str, list[str], str]]:
    """Of each repeated piece: what may stand before it, texts of it, and what may stand behind it."""
    parts = list(items)
    for place, (operation, its) in enumerate(parts):
        name = str(operation)
        if name in REPEATS and int(its[1]) > REPEATED:
            behind = _sample(parts[place + 1 :], letters)
            yield before, _sample(its[2], letters), behind[0] if behind else ""
        for each in _children(name, its):
            yield from _find_repeats(each, before, letters)
        if name != "ASSERT_NOT" and not (name == "ASSERT" and its[0] > 0):
            here = _sample([(operation, its)], letters)
            before += here[0] if here else ""


def _sample(items: Any, letters: list[str]) -> list[str]:
    """A few texts that a part of the tree matches, lookahead left aside; the shortest first."""
    texts = [""]
    for operation, its in items:
        name, own = str(operation), [""]
        if name in REPEATS:
            once = _sample(its[2], letters)
            least = min(int(its[0]), 400)
            own = [each * least for each in once] or [""]
            if least == 0 and int(its[1]):
                own = ["", *once]
        else:
            match name:
                case "LITERAL":
                    own = [chr(its)]
                case "NOT_LITERAL" | "ANY" | "IN":
                    fits = _compile((operation, its), re.DOTALL if name == "ANY" else 0)
                    own = [each for each in letters if fits.fullmatch(each)] or list(_members([(operation, its)]))
                    own = own or [""]
                case "BRANCH":
                    own = [text for each in its[1] for text in _sample(each, letters)[:1]] or [""]
                case "SUBPATTERN" | "ATOMIC_GROUP":
                    own = _sample(_children(name, its)[0], letters)
                case "ASSERT" if its[0] < 0:
                    own = _sample(its[1], letters)
        own = list(dict.fromkeys(own))
        alone = name in ("NOT_LITERAL", "ANY", "IN") and len(items) == 1
        own = own[: 3 * SAMPLES if alone else SAMPLES]  # alone and repeated: each kind of character that it takes
        texts = [text + each for each in own for text in texts][: 3 * SAMPLES]
    return texts
