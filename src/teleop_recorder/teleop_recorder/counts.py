"""What was published, received and written on each topic, from the numbers that publishers put on their messages."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Chain:
    """Messages of one publisher of a topic, numbered by it one after the other.

    Attributes:
        first: number of the first message heard.
        last: number of the newest.
        received: how many were heard.
        gap: the newest gap: number before it, how many were heard until then, number after it.
    """

    first: int
    last: int
    received: int = 1
    gap: tuple[int, int, int] | None = None

    @property
    def published(self) -> int:
        """How many the publisher sent from the first heard to the newest."""
        return self.last - self.first + 1


@dataclass
class TopicCount:
    """Counts of one topic.

    DDS numbers the messages of each publisher from 1. A sample does not say whose it is, so that numbers are sorted into chains:
    the successor of a chain's newest number belongs to it; a larger one follows the nearest smaller newest, and what lies between
    was lost; one that is smaller than all begins a chain, a second publisher or one that started anew. A missing number
    that comes after all tells that what came after the gap was another publisher's.

    Attributes:
        chains: one for each publisher heard.
        written: how many reached the file.
        passed: how many were not wanted: pictures between takes.
    """

    chains: list[Chain] = field(default_factory=list)
    written: int = 0
    passed: int = 0

    def hear(self, number: int) -> int:
        """Count a received message and return how many seem lost right before it.

        Args:
            number: the publisher's number of the message.
        """
        before = None
        for chain in self.chains:
            if number == chain.last + 1:
                chain.last, chain.received = number, chain.received + 1
                return 0
            if number > chain.last and (before is None or chain.last > before.last):
                before = chain
        if self._split(number):
            return 0
        if before is None:
            self.chains.append(Chain(number, number))
            return 0
        lost = number - before.last - 1
        before.gap = (before.last, before.received, number)
        before.last, before.received = number, before.received + 1
        return lost

    def _split(self, number: int) -> bool:
        """Where ``number`` follows what came before a gap, make two publishers of that chain."""
        for chain in self.chains:
            if chain.gap is not None and number == chain.gap[0] + 1:
                _, received, after = chain.gap
                self.chains.append(Chain(after, chain.last, chain.received - received))
                chain.last, chain.received, chain.gap = number, received + 1, None
                return True
        return False

    @property
    def published(self) -> int:
        """How many were sent between the first and the newest heard."""
        return sum(chain.published for chain in self.chains)

    @property
    def received(self) -> int:
        """How many were heard."""
        return sum(chain.received for chain in self.chains)

    def mark(self) -> tuple[int, int, int]:
        """Return the three counts as they are now: published, received, written."""
        return self.published, self.received, self.written


@dataclass
class Counts:
    """Counts of all topics, and since a mark: of a take."""

    topics: dict[str, TopicCount] = field(default_factory=dict)
    _marks: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def hear(self, topic: str, number: int) -> int:
        """Count a message of ``topic``; return how many were lost right before it."""
        return self.topics.setdefault(topic, TopicCount()).hear(number)

    def wrote(self, topic: str) -> None:
        """Count a message that reached the file."""
        self.topics[topic].written += 1

    def passed(self, topic: str) -> None:
        """Count a message that is not wanted now."""
        self.topics[topic].passed += 1

    def mark(self) -> None:
        """Begin to count anew: ``since_mark`` tells what came after."""
        self._marks = {name: count.mark() for name, count in self.topics.items()}

    def since_mark(self) -> dict[str, dict[str, int]]:
        """Return topic → published, received, written since the mark; topics that stayed silent are left out."""
        found = {}
        for name, count in sorted(self.topics.items()):
            before = self._marks.get(name, (0, 0, 0))
            new = [now - then for now, then in zip(count.mark(), before, strict=True)]
            if any(new):
                found[name] = dict(zip(("published", "received", "written"), new, strict=True))
        return found

    def totals(self) -> dict[str, dict[str, int]]:
        """Return topic → published, received, written, and passed over where that is not zero, since the beginning."""
        found = {}
        for name, count in sorted(self.topics.items()):
            found[name] = dict(zip(("published", "received", "written"), count.mark(), strict=True))
            if count.passed:
                found[name]["passed"] = count.passed
        return found
