"""Recordings are bounded and wanted, and hold no secrets."""

import json
from pathlib import Path

from runtime.intake import adapter as recordings
from runtime.intake.adapter import Recorder, hide_secrets


def test_nothing_is_kept_until_somebody_wants_it_and_not_more_than_there_is_room_for(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "desk")
    assert recorder.keep("delivery", {"a": 1}) is None
    assert list(tmp_path.iterdir()) == []

    recorder.start()
    kept = [recorder.keep("delivery", {"a": number}) for number in range(recordings.MOST_FILES + 5)]
    assert [path is None for path in kept] == [False] * recordings.MOST_FILES + [True] * 5
    assert json.loads((recorder.folder / "03-delivery.json").read_text()) == {"a": 2}


def test_what_was_kept_is_not_overwritten_where_older_files_have_gone(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "desk")
    recorder.start()
    first, second = (recorder.keep("delivery", {"a": number}) for number in (1, 2))
    assert first
    first.unlink()

    assert recorder.keep("delivery", {"a": 3}) not in {first, second, None}
    assert [json.loads(each.read_text())["a"] for each in sorted(recorder.folder.iterdir())] == [2, 3]


def test_what_is_too_large_is_not_kept(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "desk")
    recorder.start()

    assert recorder.keep("delivery", {"a": "x" * recordings.FILE_BYTES}) is None


def test_what_is_called_like_a_secret_or_is_one_is_hidden() -> None:
    told = {
        "headers": {"authorization": "Bearer 1", "x-hub-signature": "sha1=2", "content-type": "application/json"},
        "body": {
            "access_token": "3",
            "list": ["say s3cret-s3cret twice"],
            "token": {"deeper": "s3cret-s3cret"},
            "n": 4,
        },
    }

    assert hide_secrets(told, ("s3cret-s3cret",)) == {
        "headers": {"authorization": "***", "x-hub-signature": "***", "content-type": "application/json"},
        "body": {"access_token": "***", "list": ["say *** twice"], "token": {"deeper": "***"}, "n": 4},
    }
