"""The self-signed certificate of the gateway, made on first use. WebXR exists only in a secure context."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import ipaddress
import os
import socket
import ssl
import struct
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from teleop_common.errors import ConfigError

ISSUER = "xr-teleop gateway"
VALID_DAYS = 825
_SIOCGIFADDR = 0x8915
_REMEDY = "remove the file to have a new one made, or set certificate_dir"


def default_directory() -> Path:
    """Return where the certificate lies unless a parameter says otherwise."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "xr-teleop"


def local_addresses() -> list[str]:
    """Return this host's IPv4 addresses, loopback last."""
    found: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # an interface without an IPv4 address
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                found.append(socket.inet_ntoa(answer[20:24]))
    return sorted(set(found) | {"127.0.0.1"}, key=lambda a: (a.startswith("127."), a.startswith("172.17."), a))


def _write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner reads, complete or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    partial.replace(path)


def make(certificate: Path, key: Path, names: list[str], addresses: list[str], now: datetime.datetime) -> None:
    """Write a new self-signed certificate and its key.

    Args:
        certificate: PEM file to write.
        key: PEM file to write, readable by the owner alone.
        names: DNS names it is valid for.
        addresses: IP addresses it is valid for.
        now: current time, with time zone.
    """
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, ISSUER)])
    general: list[x509.GeneralName] = [x509.DNSName(n) for n in names]
    general += [x509.IPAddress(ipaddress.ip_address(a)) for a in addresses]
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName(general), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    certificate.parent.mkdir(parents=True, exist_ok=True)
    encoding = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    _write_private(key, private.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain))
    _write_private(certificate, signed.public_bytes(encoding))


def _expired_own(certificate: Path, now: datetime.datetime) -> bool:
    """Return whether the file is a certificate that we made and that is no longer valid.

    Raises:
        ConfigError: it cannot be read, or is no certificate.
    """
    try:
        loaded = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(
            "certificate", certificate.name, str(error), "a readable PEM certificate", _REMEDY, str(certificate)
        ) from error
    names = loaded.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    expired = loaded.not_valid_after_utc <= now
    own = bool(names) and names[0].value == ISSUER
    if expired and not own:
        raise ConfigError(
            "certificate",
            certificate.name,
            f"valid until {loaded.not_valid_after_utc:%Y-%m-%d}",
            "one that is still valid",
            _REMEDY,
            str(certificate),
        )
    return expired


def context(directory: Path, now: datetime.datetime) -> ssl.SSLContext:
    """Return the server's TLS context, making the certificate when there is none.

    Args:
        directory: holds ``web_cert.pem`` and ``web_key.pem``.
        now: current time, with time zone.

    Raises:
        ConfigError: the files cannot be read or written, or do not belong together.
    """
    certificate, key = directory / "web_cert.pem", directory / "web_key.pem"
    host = socket.gethostname()
    try:
        if not (certificate.exists() or key.exists()) or _expired_own(certificate, now):
            names = [n for n in dict.fromkeys((host, f"{host}.local", "localhost")) if n.isascii()]
            make(certificate, key, names, local_addresses(), now)
    except OSError as error:
        raise ConfigError(
            "certificate_dir", str(directory), str(error), "a directory that can be written", "set certificate_dir"
        ) from error
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        secure.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            "certificate", key.name, str(error), "the private key of web_cert.pem, readable", _REMEDY, str(key)
        ) from error
    return secure
