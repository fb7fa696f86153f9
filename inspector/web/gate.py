"""Who is let in. Loopback is shared by every program and every web page on the machine, so each
request is judged: by the name it calls the server by, the page it comes from, and what it knows.

A one-time token, printed in the terminal, is changed for a cookie that pages cannot read and other
sites cannot send. Pure but for its random secrets.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from hmac import compare_digest

COOKIE = "ullage-session"
SECRET_BYTES = 32
LOOPBACK = ("127.0.0.1", "localhost")


@dataclass(slots=True)
class Gate:
    """One server's gate. ``hosts``: how it may be called, each with its port."""

    hosts: Collection[str]
    _token: str = field(default_factory=lambda: secrets.token_urlsafe(SECRET_BYTES))
    _cookies: set[str] = field(default_factory=set)

    @property
    def token(self) -> str:
        """That opens the door next, once."""
        return self._token

    def stranger(self, host: str | None, origin: str | None) -> str | None:
        """Why a request is turned away, whatever it knows: it calls the server by a foreign name
        (a name of an attacker's may lead here), or a page of another origin sends it."""
        if host is None or host.lower() not in self.hosts:
            return "This server answers to its loopback address only."
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return "Pages of another origin may not speak to this server."
        return None

    def admit(self, token: str) -> str | None:
        """The cookie that a token is changed for, once; ``None`` for a wrong or a used one."""
        if not compare_digest(_bytes(token), self._token.encode()):
            return None
        self._token = secrets.token_urlsafe(SECRET_BYTES)
        cookie = secrets.token_urlsafe(SECRET_BYTES)
        self._cookies.add(cookie)
        return cookie

    def knows(self, cookie: str | None) -> bool:
        """Whether a cookie was given out by :meth:`admit`."""
        given = _bytes(cookie or "")
        return any(compare_digest(given, known.encode()) for known in self._cookies)


def loopback_names(port: int) -> frozenset[str]:
    """How a server on this port may be called."""
    return frozenset(f"{name}:{port}" for name in LOOPBACK)


def _bytes(given: str) -> bytes:
    """Whatever bytes a header held: those that are no UTF-8 came as lone surrogates."""
    return given.encode("utf-8", "surrogatepass")
