"""The door of a remote bot: the arena knocks before gRPC enters, which would only say that it is unavailable."""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time

from arena.bots.certificates import Keys
from arena.bots.channel import HandshakeError, Metadata
from arena.wire import remote

_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""How a client of HTTP/2 begins: the preface and its settings, which are none."""
RETRY_S = 0.1
"""Between two attempts to reach somebody who is not there yet."""
ATTEMPT_S = 5.0
"""How long one of them may take: what got lost on the way is not waited for."""
UNWELCOME_TIMES = 3
"""Who hangs up on the arena's certificate so often means it; once may be the line."""


class Session:
    """What the arena shows with its calls to one process: the same session even after the connection was lost."""

    def __init__(self, keys: Keys | None) -> None:
        self._keys = keys
        self._name = secrets.token_hex(16)

    def metadata(self, method: str) -> Metadata:
        """For one call of a method: the session and, where there are keys, a token."""
        shown = ((remote.SESSION, self._name),)
        if self._keys is None:
            return shown
        token = remote.mint(self._keys.token_key, method, self._name, time.time(), secrets.token_hex(16))
        return (*shown, (remote.TOKEN, token))


async def knock(address: str, keys: Keys | None, within_s: float) -> None:
    """Wait until a gRPC server answers at `host:port`; with keys, see that each side takes the other's certificate.

    Raises `HandshakeError` with a sentence for each way in which it does not.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    nobody = ""
    unwelcome = 0
    while unwelcome < UNWELCOME_TIMES:
        try:
            async with asyncio.timeout_at(min(deadline, loop.time() + ATTEMPT_S)):
                if nobody:
                    await asyncio.sleep(RETRY_S)
                if await _welcomed(address, keys):
                    return
                unwelcome += 1
                nobody = ": it hangs up"
        except TimeoutError:
            if loop.time() >= deadline:
                raise HandshakeError(f"nobody answered at {address} within {within_s:.0f} s{nobody}") from None
            nobody = ": it takes connections, but says nothing"
        except ssl.SSLCertVerificationError as error:
            assert keys is not None
            raise HandshakeError(
                f"the certificate at {address} is not {keys.certificate_file} (SHA-256 {keys.fingerprint}): "
                f"{error.verify_message}; somebody else answers there, or the bot has new keys"
            ) from None
        except ssl.SSLError as error:
            raise HandshakeError(
                f"no TLS is spoken at {address} ({error.reason}), but its certificate is pinned; "
                "start the bot with its keys"
            ) from None
        except OSError as error:
            nobody = f": {error.strerror or error or 'it hangs up'}"
    assert keys is not None
    raise HandshakeError(
        f"it does not take the arena's certificate {keys.client_certificate_file}; "
        "give both sides the files of the same `arena certs`"
    )


async def _welcomed(address: str, keys: Keys | None) -> bool:
    """Whether a server of HTTP/2 greets us.  False: it let us in by TLS, and hung up on seeing who we are."""
    host, _, port = address.rpartition(":")
    context, name = (None, None) if keys is None else (keys.context, keys.host)
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), ssl=context, server_hostname=name)
    try:
        writer.write(_HELLO)
        greeting = await reader.read(1)
    except OSError:
        if keys is None:
            raise
        return False
    finally:
        writer.transport.abort()
    if keys is None and greeting != b"\0":
        raise ConnectionResetError("no gRPC in plain text is spoken there; does the bot serve with keys?")
    return greeting == b"\0"
