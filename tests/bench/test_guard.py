"""A figure that got worse is named, and none is left without a target."""

import pytest

from bench.guard import compare_with_targets, read_targets
from bench.measure import NotMeasured


def test_a_figure_above_its_target_is_named() -> None:
    targets = read_targets()

    assert compare_with_targets(targets, targets) == [], "what just reaches its target is well"
    worse = {**targets, "engine_at_64": targets["engine_at_64"] + 0.01}
    assert compare_with_targets(worse, targets) == ["engine_at_64"]


@pytest.mark.parametrize(("found", "targets"), [({"a": 1.0}, {}), ({}, {"a": 1.0})])
def test_a_figure_without_a_target_and_a_target_without_a_figure_are_said(
    found: dict[str, float], targets: dict[str, float]
) -> None:
    with pytest.raises(NotMeasured, match="a: each figure needs a target"):
        compare_with_targets(found, targets)
