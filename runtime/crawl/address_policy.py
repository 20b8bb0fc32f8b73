"""
Which addresses a stranger's URL may lead to.

A name is checked where it becomes an address, and at each of its addresses: what a name meant a moment ago proves
nothing, and an address has more spellings than anybody thinks of.
"""

import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from actors.text.urls import split

Network = IPv4Network | IPv6Network
AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int]]

PORTS = frozenset({80, 443, 8080, 8443})
"""Where web servers listen; on any other port of a public address something else may."""
URL_CHARACTERS = 4096


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """:raises ValueError: one of them is no network."""
    return tuple(ip_network(each, strict=False) for each in texts)


# Python's `is_global` differs between patch releases, so the tables are our own. 168.63.129.16 is Azure's host agent.
_NOT_PUBLIC = networks(
    [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    ]
)  # fmt: skip
_PUBLIC_6 = networks(["2000::/3"])[0]
# Teredo and 6to4 carry an IPv4 address, which may be anybody's; the others are for documentation and protocols.
_NOT_PUBLIC_6 = networks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"])
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa")


class Forbidden(OSError):
    """An address that must not be connected to. An OSError, so that the next address of the name is tried."""

    MARK = "is not a public address of the web"


def is_permitted(address: str, port: int, allow: Iterable[Network]) -> bool:
    """Whether an address may be connected to: a public one at a port of the web, or one of an allowed network."""
    ip = ip_address(address.partition("%")[0])
    if ip.version == 6 and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if any(ip in network for network in allow if network.version == ip.version):
        return True
    if ip.version == 4:
        return port in PORTS and not any(ip in network for network in _NOT_PUBLIC)
    return port in PORTS and ip in _PUBLIC_6 and not any(ip in network for network in _NOT_PUBLIC_6)


def guard_sockets(allow: tuple[Network, ...]) -> Callable[[AddressInfo], socket.socket]:
    """A factory of sockets, which gets the very address of each attempt, whatever it was called before."""

    def make(info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        if not is_permitted(address[0], address[1], allow):
            raise Forbidden(f"{address[0]} port {address[1]} {Forbidden.MARK}")
        return socket.socket(family, kind, protocol)

    return make


def objection(url: str, allow: tuple[Network, ...]) -> str:
    """What speaks against a URL before anybody asks for its address, in a sentence; empty when nothing does."""
    if (parts := split(url)) is None:
        return "This is not a web address."
    host = (parts.hostname or "").rstrip(".").lower()
    if parts.scheme not in {"http", "https"}:
        return "Only addresses that begin with http:// or https:// are read."
    if not host or any(each.isspace() or not each.isprintable() for each in url):
        return "This is not a web address."
    if parts.username is not None or parts.password is not None:
        return "Addresses with a user name or password in them are not read."
    if len(url) > URL_CHARACTERS:
        return f"Addresses longer than {URL_CHARACTERS} characters are not read."
    if not allow and (host == "localhost" or host.endswith(_LOCAL_NAMES)):
        return "Addresses of the local network are not read: list the network in [fetch] allow if it should be."
    return ""


def is_public(url: str) -> bool:
    """Whether a URL, by the looks of it, leads to the public web, so that an outside service may hear of it."""
    if objection(url, ()):
        return False
    parts = urlsplit(url)
    host, port = (parts.hostname or "").rstrip("."), parts.port or (80 if parts.scheme == "http" else 443)
    try:
        return is_permitted(host, port, ())
    except ValueError:  # a name, or another spelling of a number
        last = host.rpartition(".")[2]
        return "." in host and not last[:1].isdecimal()
