"""Which addresses a stranger's URL may lead to."""

import pytest

from runtime.crawl.http_client import Forbidden, guard_sockets, is_permitted, is_public, networks, objection

PUBLIC = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "1.1.1.1", "172.32.0.1", "192.169.0.1", "100.128.0.1"]
INNER = [
    "0.0.0.1", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.7",
    "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1", "::7f00:1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2001:0:7f00:1::", "2001:db8::1", "2002:7f00:1::",
    "3fff::1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1%eth0", "fec0::1", "ff02::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_read_at_the_ports_of_the_web(address: str) -> None:
    assert [is_permitted(address, port, ()) for port in (80, 443, 8080, 8443)] == [True] * 4
    assert not any(is_permitted(address, port, ()) for port in (0, 22, 25, 6379, 8000, 65535))


@pytest.mark.parametrize("address", INNER)
def test_an_address_that_is_not_public_may_not(address: str) -> None:
    assert not is_permitted(address, 80, ())


def test_an_allowed_network_may_be_read_at_any_port_and_no_other_with_it() -> None:
    allow = networks(["127.0.0.1/32", "fd00::/8"])

    assert is_permitted("127.0.0.1", 9999, allow)
    assert is_permitted("::ffff:127.0.0.1", 9999, allow)
    assert is_permitted("fd00::7", 9999, allow)
    assert not is_permitted("127.0.0.2", 80, allow)
    assert not is_permitted("8.8.8.8", 9999, allow)


def test_a_network_with_bits_below_its_length_is_understood_and_nonsense_is_not() -> None:
    assert is_permitted("10.1.2.3", 1, networks(["10.1.2.3/8"]))
    with pytest.raises(ValueError, match="nonsense"):
        networks(["nonsense"])


def test_no_socket_is_made_for_a_forbidden_address() -> None:
    with pytest.raises(Forbidden, match=r"10\.0\.0\.1 port 80"):
        guard_sockets(())((2, 1, 6, "", ("10.0.0.1", 80)))


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("file:///etc/passwd", "http://"),
        ("gopher://127.0.0.1:6379/_x", "http://"),
        ("javascript:alert(1)", "http://"),
        ("data:text/html,x", "http://"),
        ("//example.org/", "http://"),
        ("", "http://"),
        ("http://", "not a web address"),
        ("http:///x", "not a web address"),
        ("http://[::1", "not a web address"),
        ("http://a b/", "not a web address"),
        ("http://a/b c", "not a web address"),
        ("http://a:port/", "not a web address"),
        ("http://a:99999/", "not a web address"),
        ("http://a/\r\nX: y", "not a web address"),
        ("http://a/\u202e", "not a web address"),
        ("http://\x00x/", "not a web address"),
        ("http://user:pw@example.org/", "user name"),
        ("http://user@example.org/", "user name"),
        (f"http://example.org/{'a' * 5000}", "longer than 4096"),
        ("http://localhost/", "local network"),
        ("http://LOCALHOST./", "local network"),
        ("http://printer.local/", "local network"),
        ("http://metadata.google.internal/", "local network"),
        ("http://a.localhost:80/", "local network"),
    ],
)
def test_what_is_wrong_with_a_url_is_said_before_anybody_is_asked_for_its_address(url: str, sentence: str) -> None:
    assert sentence in objection(url, ())


def test_local_names_may_be_read_where_a_network_is_allowed_and_then_their_address_decides() -> None:
    assert objection("http://localhost:8080/", networks(["127.0.0.0/8"])) == ""
    assert objection("http://example.org/a?b=c#d", ()) == ""


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://example.org/a", True),
        ("http://1.1.1.1/", True),
        ("https://[2606:4700::1111]/", True),
        ("http://127.0.0.1:8000/", False),
        ("http://10.1.2.3/wiki?token=x", False),
        ("http://[::1]/", False),
        ("http://[::ffff:169.254.169.254]/", False),
        ("http://wiki/secret", False),
        ("http://wiki.internal/secret", False),
        ("http://localhost./", False),
        ("http://2130706433/", False),
        ("http://127.1/", False),
        ("http://u:p@example.org/", False),
        ("knowledge:manual/a.md", False),
    ],
)
def test_of_the_own_network_no_outside_service_hears(url: str, public: bool) -> None:
    assert is_public(url) is public
