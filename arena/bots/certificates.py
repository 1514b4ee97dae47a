"""Certificates, keys and tokens of remote bots: made in pairs of files for both sides, and read back.

Each side pins the other's self-signed certificate as the only root: there is no authority to trust or to steal.
"""

from __future__ import annotations

import datetime
import hashlib
import secrets
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from arena.errors import UsageError
from arena.wire import remote

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

HOST = "bot.arena"
"""What the certificates are made out to: pinned ones need no name, but TLS wants one."""
SKEW = datetime.timedelta(hours=1)
"""Clocks may be wrong by this much when a certificate is new."""

BOT_CERTIFICATE, BOT_KEY = "bot.crt", "bot.key"
ARENA_CERTIFICATE, ARENA_KEY = "arena.crt", "arena.key"
TOKEN = "token"


@dataclass(frozen=True, slots=True)
class Keys:
    """What the arena needs to know a remote bot, and to be known by it."""

    certificate: bytes
    """The bot's, PEM: the only one that is believed."""
    certificate_file: Path
    host: str
    """The name in it."""
    fingerprint: str
    """SHA-256 of it, in hex."""
    client_certificate: bytes
    """The arena's own, PEM."""
    client_certificate_file: Path
    client_key: bytes = field(repr=False)
    token_key: bytes = field(repr=False)
    context: ssl.SSLContext = field(repr=False, compare=False)
    """For a handshake by hand, whose failures can be told apart."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Keys travel to other processes; a context does not, and is made again there."""
        return _arrived, tuple(getattr(self, each.name) for each in fields(self) if each.name != "context")


def make(name: str, days: int) -> tuple[Mapping[str, bytes], Mapping[str, bytes]]:
    """The files of the bot's side and those of the arena's, by name; every call makes new keys."""
    bot_certificate, bot_key = _pair(name, days, server=True)
    arena_certificate, arena_key = _pair("arena", days, server=False)
    token = f"{secrets.token_hex(remote.KEY_BYTES)}\n".encode()
    shared = {BOT_CERTIFICATE: bot_certificate, ARENA_CERTIFICATE: arena_certificate, TOKEN: token}
    return {**shared, BOT_KEY: bot_key}, {**shared, ARENA_KEY: arena_key}


def read(certificate: Path, client_certificate: Path, client_key: Path, token_file: Path) -> Keys:
    """The keys in these files.

    Raises `UsageError` for a file that is missing, is not what it should be, has expired, or does not fit another.
    """
    pinned = _bytes(certificate)
    parsed = _certificate(certificate, pinned)
    own = _bytes(client_certificate)
    _certificate(client_certificate, own)
    token_key = remote.parse_key(_bytes(token_file).decode("ascii", "replace"))
    if token_key is None:
        raise UsageError(
            f"{token_file} is no token file; expected {2 * remote.KEY_BYTES} hex digits from `arena certs`"
        )
    key = _bytes(client_key)
    try:
        context = _context(pinned, client_certificate, client_key)
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(
            f"{client_key} is not the private key of {client_certificate} ({error}); expected the two that belong "
            "together, without a password"
        ) from None
    return Keys(
        certificate=pinned,
        certificate_file=certificate,
        host=_host(parsed, certificate),
        fingerprint=hashlib.sha256(ssl.PEM_cert_to_DER_cert(pinned.decode().strip())).hexdigest(),
        client_certificate=own,
        client_certificate_file=client_certificate,
        client_key=key,
        token_key=token_key,
        context=context,
    )


def _context(pinned: bytes, client_certificate: Path, client_key: Path) -> ssl.SSLContext:
    """Raises `ssl.SSLError` or `ValueError` if the key is not that of the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=pinned.decode("ascii", "replace"))
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(client_certificate, client_key, password="")
    return context


def _arrived(*values: Any) -> Keys:
    """Keys from all of their fields but the context, which reads files only."""
    names = [each.name for each in fields(Keys) if each.name != "context"]
    given = dict(zip(names, values, strict=True))
    with tempfile.TemporaryDirectory(prefix="arena-keys-") as folder:  # for its owner alone
        certificate, key = Path(folder, ARENA_CERTIFICATE), Path(folder, ARENA_KEY)
        certificate.write_bytes(given["client_certificate"])
        key.write_bytes(given["client_key"])
        context = _context(given["certificate"], certificate, key)
    return Keys(**given, context=context)


def _pair(name: str, days: int, *, server: bool) -> tuple[bytes, bytes]:
    """A self-signed certificate and its private key, both PEM."""
    x509 = _x509()
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private


def _certificate(path: Path, data: bytes) -> Certificate:
    """A certificate that holds now.  Raises `UsageError`."""
    try:
        certificate: Certificate = _x509().load_pem_x509_certificate(data)
    except ValueError as error:
        raise UsageError(f"{path} is no certificate in PEM: {error}; make one by `arena certs`") from None
    now = datetime.datetime.now(datetime.UTC)
    if now > certificate.not_valid_after_utc:
        end = f"{certificate.not_valid_after_utc:%Y-%m-%d}"
        raise UsageError(f"the certificate {path} expired on {end}; make new keys by `arena certs`")
    if now < certificate.not_valid_before_utc:
        raise UsageError(
            f"the certificate {path} holds from {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} UTC on only; "
            "set the clock of this machine"
        )
    return certificate


def _host(certificate: Certificate, path: Path) -> str:
    x509 = _x509()
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        hosts: list[str] = names.get_values_for_type(x509.DNSName)
    except x509.ExtensionNotFound:
        hosts = []
    if not hosts:
        raise UsageError(
            f"the certificate {path} has no DNS name among its subject alternative names; make one by `arena certs`"
        )
    return hosts[0]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # a path may be none at all
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read: {why}; it comes from `arena certs`") from None


def _x509() -> ModuleType:
    """The library that is needed for remote bots only.  Raises `UsageError` where it is missing."""
    try:
        from cryptography import x509
    except ImportError:
        raise UsageError(
            "remote bots with certificates need the package cryptography; "
            "install it with the extra `remote` of this package"
        ) from None
    return x509
