"""The certificate: made once, kept, refused with one line when it is not usable."""

import datetime
import stat

import pytest

pytest.importorskip("cryptography")

from cryptography import x509  # noqa: E402

from teleop_common.errors import ConfigError  # noqa: E402
from teleop_web import certificate  # noqa: E402

NOW = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)


def test_first_use_makes_a_private_key_and_names_this_host(tmp_path):
    certificate.context(tmp_path / "new", NOW)
    made = x509.load_pem_x509_certificate((tmp_path / "new/web_cert.pem").read_bytes())
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "localhost" in names.get_values_for_type(x509.DNSName)
    assert "127.0.0.1" in map(str, names.get_values_for_type(x509.IPAddress))
    assert stat.S_IMODE((tmp_path / "new/web_key.pem").stat().st_mode) == 0o600


def test_second_start_keeps_the_certificate_that_the_headset_accepted(tmp_path):
    certificate.context(tmp_path, NOW)
    before = (tmp_path / "web_cert.pem").read_bytes()
    certificate.context(tmp_path, NOW)
    assert (tmp_path / "web_cert.pem").read_bytes() == before


def test_own_expired_certificate_is_renewed(tmp_path):
    long_ago = NOW - datetime.timedelta(days=2000)
    certificate.make(tmp_path / "web_cert.pem", tmp_path / "web_key.pem", ["localhost"], [], long_ago)
    before = (tmp_path / "web_cert.pem").read_bytes()
    certificate.context(tmp_path, NOW)
    assert (tmp_path / "web_cert.pem").read_bytes() != before


@pytest.mark.parametrize("broken", ["web_cert.pem", "web_key.pem"])
@pytest.mark.parametrize("content", [b"", b"not a certificate", None])
def test_broken_or_missing_file_stops_the_start_and_is_named(tmp_path, broken, content):
    certificate.context(tmp_path, NOW)
    if content is None:
        (tmp_path / broken).unlink()
    else:
        (tmp_path / broken).write_bytes(content)
    with pytest.raises(ConfigError, match=broken) as caught:
        certificate.context(tmp_path, NOW)
    assert "\n" not in str(caught.value)


def test_key_of_another_certificate_stops_the_start(tmp_path):
    certificate.context(tmp_path, NOW)
    certificate.context(tmp_path / "other", NOW)
    (tmp_path / "web_key.pem").write_bytes((tmp_path / "other/web_key.pem").read_bytes())
    with pytest.raises(ConfigError, match="web_key"):
        certificate.context(tmp_path, NOW)


def test_directory_that_cannot_be_made_stops_the_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="certificate_dir"):
        certificate.context(tmp_path / "file" / "below", NOW)
