"""What a function in a worker process said, as a person is told it."""

import pytest

from runtime.processes.pool import WorkFailed


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ("NotUsable: the file is damaged", "the file is damaged"),
        ("disk I/O error: no room", "disk I/O error: no room"),
        ("its process died", "its process died"),
    ],
)
def test_the_type_of_an_exception_is_not_told(said: str, detail: str) -> None:
    assert WorkFailed(said).detail == detail
