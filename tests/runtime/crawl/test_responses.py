"""What a server's answer means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.crawl.http_client import KINDS, error_of_headers, error_of_status, is_binary

TEXT = KINDS["text"]


@pytest.mark.req("RE-4")
@given(st.integers(100, 999), st.none() | st.floats(0, 1e6))
def test_every_status_but_success_has_a_reason_and_a_sentence(status: int, wait: float | None) -> None:
    trouble = error_of_status(status, wait)

    assert (trouble is None) == (200 <= status < 300)
    if trouble is not None:
        assert trouble.detail.endswith(f"({status}).")
        assert trouble.detail[0].isupper()


@pytest.mark.parametrize(
    ("status", "wait", "reason", "again"),
    [
        (404, None, "dead", False), (410, None, "dead", False), (401, None, "paywall", False),
        (402, None, "paywall", False), (403, None, "blocked", False), (451, None, "blocked", False),
        (429, None, "rate_limited", False), (429, 2.0, "rate_limited", True), (503, 2.0, "rate_limited", True),
        (503, None, "unreachable", True), (502, None, "unreachable", True), (504, None, "unreachable", True),
        (500, None, "unreachable", False), (302, None, "unreachable", False),
    ],
)  # fmt: skip
def test_a_status_tells_why_and_whether_a_second_try_may_help(
    status: int, wait: float | None, reason: str, again: bool
) -> None:
    trouble = error_of_status(status, wait)

    assert trouble is not None
    assert (trouble.reason, trouble.again) == (reason, again)


@pytest.mark.req("RE-7")
@pytest.mark.parametrize(
    "type_",
    ["application/pdf", "image/png", "image/svg+xml", "video/mp4", "audio/mpeg", "application/zip", "font/woff2",
     "application/octet-stream", "text/css", "text/javascript", "multipart/form-data", "nonsense", "a/b\x1b[31m"],
)  # fmt: skip
def test_types_that_are_no_text_are_skipped(type_: str) -> None:
    trouble = error_of_headers(TEXT, type_, "", 0, 1000)

    assert trouble is not None
    assert trouble.reason == "binary"
    assert "\x1b" not in trouble.detail


@pytest.mark.parametrize(
    "type_",
    ["", "text/html", "text/plain", "text/markdown", "application/xhtml+xml", "application/xml", "application/json"],
)
def test_types_that_are_text_are_read(type_: str) -> None:
    assert error_of_headers(TEXT, type_, "inline", 1000, 1000) is None


@pytest.mark.parametrize(
    "type_", ["application/rss+xml", "application/atom+xml", "text/xml", "text/html", "text/plain"]
)
def test_a_feed_may_call_itself_what_feeds_do(type_: str) -> None:
    assert error_of_headers(KINDS["feed"], type_, "", 0, 1000) is None


def test_a_download_and_a_monster_are_no_pages() -> None:
    download = error_of_headers(TEXT, "text/html", ' Attachment; filename="x"', 0, 1000)
    monster = error_of_headers(TEXT, "text/html", "", 4001, 1000)

    assert [each.reason for each in (download, monster) if each] == ["binary", "too_large"]
    assert error_of_headers(TEXT, "text/html", "", 4000, 1000) is None


@pytest.mark.req("RE-7")
@pytest.mark.parametrize(
    "head",
    [b"%PDF-1.7", b"PK\x03\x04", b"\x89PNG\r\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"\x1f\x8b\x08", b"\x7fELF\x02",
     b"MZ\x90\x00", b"RIFF\x00\x00\x00\x00WEBP", b"\x00\x00\x00\x18ftypmp42", b"ID3\x03", b"OggS\x00", b"wOF2",
     b"\xd0\xcf\x11\xe0", b"\x00asm", b"\x28\xb5\x2f\xfd", b"text \x00\x01\x02 text"],
)  # fmt: skip
def test_what_begins_like_no_text_is_recognised_under_any_type(head: bytes) -> None:
    assert is_binary(head)


@pytest.mark.parametrize(
    "head",
    ["Plain.", "MZ is a chess opening", "ID3 is a tag", "RIFF raff", "GIF89 was a format", "中文", "\x1b[1mbold", ""],
)
def test_text_is_no_binary_whatever_it_begins_with(head: str) -> None:
    assert not is_binary(head.encode())
    assert not is_binary(head.encode("utf-16"))
