import pytest
from hypothesis import given
from hypothesis import strategies as st

from teleop_hw_so101 import packet
from teleop_hw_so101.packet import Packet, Parser

PACKETS = st.builds(Packet, st.integers(0, 253), st.integers(0, 255), st.binary(max_size=20))
# noise without a header: a false header may rightly wait for its bytes
NOISE = st.binary(max_size=12).filter(lambda b: b"\xff" not in b)


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (packet.ping(1), "ff ff 01 02 01 fb"),
        (packet.read(1, 56, 2), "ff ff 01 04 02 38 02 be"),
        (packet.write(1, 42, b"\x00\x08"), "ff ff 01 05 03 2a 00 08 c4"),
        (packet.sync_read([1, 2], 56, 8), "ff ff fe 06 82 38 08 01 02 36"),
        (packet.sync_write(42, {1: b"\x00\x08", 2: b"\x01\x08"}), "ff ff fe 0a 83 2a 02 01 00 08 02 01 08 34"),
    ],
)
def test_packets_are_those_of_the_vendors_protocol(made, known):
    assert made == bytes.fromhex(known)


@given(st.lists(st.tuples(NOISE, PACKETS), max_size=6), st.randoms())
def test_every_packet_is_found_among_noise_however_the_bytes_are_cut(pieces, random):
    stream = b"".join(noise + packet.encode(p) for noise, p in pieces)
    parser, found = Parser(), []
    while stream:
        cut = random.randint(1, len(stream))
        found += parser.feed(stream[:cut])
        stream = stream[cut:]
    assert found == [p for _, p in pieces]
    assert parser.pending == 0
    assert parser.skipped == sum(len(noise) for noise, _ in pieces)


@given(PACKETS, st.data())
def test_one_flipped_bit_gives_no_packet_with_other_content(good, data):
    raw = bytearray(packet.encode(good))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= 1 << data.draw(st.integers(0, 7))
    assert good not in Parser().feed(bytes(raw))
    # a flip of the length or of the header may leave an incomplete packet, never a complete one with the wrong sum
    assert Parser().feed(bytes(raw)) == [] or place < 4


@given(PACKETS)
def test_packet_behind_a_false_header_is_found_after_resynchronising(good):
    parser = Parser()
    assert parser.feed(b"\xff\xff\x01\xf0" + packet.encode(good)) == []
    found = []
    while parser.pending and not found:
        found = parser.resynchronise()
    assert found == [good]


def test_third_ff_before_a_packet_is_noise():
    assert Parser().feed(b"\xff" + packet.encode(Packet(3, 0))) == [Packet(3, 0)]


def test_blocks_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match="one length"):
        packet.sync_write(42, {1: b"\x00", 2: b"\x00\x00"})
