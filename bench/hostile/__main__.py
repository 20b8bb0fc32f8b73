"""
Texts that are made to hold the process: each regular expression is tried with its own, then each whole function.

Prints how many patterns were tried, the worst growth (1: twice the text takes twice the time; 2: a square) and the
worst milliseconds of CPU; then the same of each door. What does not end is killed.
"""

import argparse
import math
import sys

from bench.hostile.doors import DOORS, MIDDLES, try_door
from bench.hostile.growth import DidNotEnd, Growth, Killable
from bench.hostile.patterns import find_patterns, try_pattern
from bench.measure import table

KILLED = Growth(math.inf, math.inf, 0, "it did not end")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=__doc__.strip().splitlines()[0])
    parser.add_argument("--only", choices=("patterns", "doors"), help="one of the two parts")
    parser.add_argument("--worst", type=int, default=8, help="so many patterns are shown (8)")
    arguments = parser.parse_args()
    process, bad = Killable(), 0
    if arguments.only != "doors":
        bad += _try_patterns(process, arguments.worst)
    process.close()
    if arguments.only != "patterns":
        bad += _try_doors(process)
    process.close()
    return 1 if bad else 0


def _try_patterns(process: Killable, shown: int) -> int:
    patterns = process.call(find_patterns, seconds=120)
    process.close()  # there `re` is watched
    tried, found = 0, list[tuple[Growth, str]]()
    for pattern in patterns:
        try:
            texts, worst = process.call(try_pattern, pattern, seconds=60)
        except DidNotEnd:
            texts, worst = 0, KILLED
        tried += texts
        found.append((worst, pattern.place))
    bad = [(worst, place) for worst, place in found if worst.is_bad]
    print(f"{len(patterns)} patterns, {tried} texts: {len(bad)} grow faster than their text or take too long")
    slowest = sorted(found, key=lambda each: (each[0].is_bad, each[0].per_size), reverse=True)[:shown]
    rows = [
        (place, f"{worst.exponent:.2f}", f"{worst.milliseconds:.0f}", str(worst.characters), worst.text[:60])
        for worst, place in slowest
    ]
    print(table(("pattern", "growth", "ms", "characters", "text"), rows))
    return len(bad)


def _try_doors(process: Killable) -> int:
    rows, bad = list[tuple[str, ...]](), 0
    for door in DOORS:
        found = list[Growth]()
        for middle in MIDDLES:
            try:
                found.append(process.call(try_door, door.name, middle, seconds=60))
            except DidNotEnd:
                found.append(KILLED._replace(text=f"{middle}: it did not end"))
        worst = max(found, key=lambda each: each.milliseconds)
        fastest = max((each for each in found if each.milliseconds > 50), key=lambda each: each.exponent, default=worst)
        bad += worst.milliseconds > door.most
        grows = f"{fastest.exponent:.2f}"
        rows.append((door.name, f"{worst.milliseconds:.0f}", str(worst.characters), worst.text, grows, fastest.text))
        process.close()
    print(table(("door", "ms", "characters", "worst text", "growth", "of text"), rows))
    return bad


if __name__ == "__main__":
    sys.exit(main())
