"""When two URLs are one page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.urls import key_of

SAME = [
    ("https://Example.ORG/a", "https://example.org/a"),
    ("HTTPS://example.org/a", "https://example.org/a"),
    ("https://example.org./a", "https://example.org/a"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("http://example.org:80/a", "http://example.org/a"),
    ("http://example.org:/a", "http://example.org/a"),
    ("https://reader@example.org/a", "https://example.org/a"),
    ("https://example.org", "https://example.org/"),
    ("https://example.org?a=1", "https://example.org/?a=1"),
    ("https://example.org/a#section", "https://example.org/a"),
    ("https://example.org/a?", "https://example.org/a"),
    ("https://example.org/a/./b/../c", "https://example.org/a/c"),
    ("https://example.org/%2e%2e/a", "https://example.org/a"),
    ("https://example.org//a///b", "https://example.org/a/b"),
    ("https://example.org/%7euser", "https://example.org/~user"),
    ("https://example.org/%e4%b8%ad", "https://example.org/中"),
    ("https://example.org/a?b=%7e", "https://example.org/a?b=~"),
    ("https://example.org/a?q=two words", "https://example.org/a?q=two%20words"),
    ("https://example.org/a?q=two\nlines", "https://example.org/a?q=twolines"),
    ("https://example.org/a?q=two+words", "https://example.org/a?q=two%20words"),
    ("https://example.org/a?b=2&a=1", "https://example.org/a?a=1&b=2"),
    ("https://example.org/a?&a=1&", "https://example.org/a?a=1"),
    ("https://example.org/a?utm_source=x&utm_medium=y", "https://example.org/a"),
    ("https://example.org/a?id=7&fbclid=x&gclid=y", "https://example.org/a?id=7"),
    ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
    ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
    (" https://example.org/a\n", "https://example.org/a"),
]
APART = [
    ("https://example.org/a", "https://example.org/b"),
    ("https://example.org/A", "https://example.org/a"),
    ("https://example.org/a", "https://example.com/a"),
    ("https://example.org/a?id=1", "https://example.org/a?id=2"),
    ("https://example.org/a?id=1", "https://example.org/a"),
    ("https://example.org/a?x=1&x=2", "https://example.org/a?x=2&x=1"),
    ("https://example.org/a%2Fb", "https://example.org/a/b"),
    ("https://example.org/a?q=a%26b", "https://example.org/a?q=a&b"),
    ("https://example.org/a?q=c%2B%2B", "https://example.org/a?q=c++"),
    ("https://example.org:8443/a", "https://example.org/a"),
    ("https://example.org/#!/one", "https://example.org/#!/two"),
    ("https://example.org/a?ref=1", "https://example.org/a?ref=2"),
    ("https://example.org/%2525", "https://example.org/%25"),
]  # fmt: skip


@pytest.mark.req("PR-20")
@pytest.mark.parametrize(("one", "other"), SAME)
def test_every_spelling_of_a_url_has_one_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.req("PR-20")
@pytest.mark.parametrize(("one", "other"), APART)
def test_urls_that_may_be_two_pages_stay_apart(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


def test_a_document_of_ones_own_is_known_by_its_path() -> None:
    assert key_of("knowledge:manual/A B.html") == key_of("manual/A B.html") == "manual/A B.html"


@pytest.mark.parametrize(
    "odd", ["", "tavily", "http://", "http://[::1", "http://x:port/", "mailto:a@b", "\x00", "http:///x"]
)
def test_what_is_no_address_of_the_web_is_its_own_key(odd: str) -> None:
    assert key_of(odd) == odd


URLS = st.builds(
    "{}://{}{}/{}{}{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["example.org", "Example.ORG.", "u:p@ex.org", "[::1]", "münchen.example", "ＥＸ.org", "127.0.0.1"]),
    st.sampled_from(["", ":80", ":443", ":8080", ":"]),
    st.text(alphabet="aZ./%2eE~ü中 +&=?#!\t\ud800", max_size=20),
    st.text(alphabet="aZ&=+%2e?utm_x;", max_size=20).map("?{}".format),
    st.sampled_from(["", "#x", "#!/x", "#"]),
)


@given(URLS)
def test_the_key_of_a_key_is_the_key(url: str) -> None:
    assert key_of(key_of(url)) == key_of(url)
