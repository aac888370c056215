"""Addresses that a gateway listens on and host names that it answers to, as people write them."""

import ipaddress
import re

_HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_MOST_HOST_NAME = 253


def ip_address(raw: str) -> str:
    """Return an IP address in its usual spelling, `127.0.0.1` for `localhost`; raises ValueError for all else."""
    named = "127.0.0.1" if raw == "localhost" else raw.removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(named)
    except ValueError:
        address = None
    # Envoy knows no zones.
    if address is None or "%" in named:
        raise ValueError("is not an IP address; examples: 127.0.0.1, 0.0.0.0, ::1")
    return str(address)


def host_name(raw: str) -> str:
    """Return a host name in lower case; raises ValueError for what is none, as with a scheme or a port."""
    name = raw.lower()
    if len(name) > _MOST_HOST_NAME or not _HOST_NAME.fullmatch(name):
        raise ValueError("holds what is not a plain host name; leave scheme and port out, as in attest.example.com")
    return name


def host_in_url(address: str) -> str:
    """Return an IP address as a URL and a `Host` header spell it. Example: `[::1]`."""
    return f"[{address}]" if ":" in address else address


def reached_at(address: str) -> str:
    """Return the address under which this machine reaches what listens on `address`."""
    everywhere = ipaddress.ip_address(address).is_unspecified
    return "127.0.0.1" if everywhere else address
