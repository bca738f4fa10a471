"""Sessions and episodes in words."""

from __future__ import annotations

from collections.abc import Iterable

from teleop_common.errors import ConfigError
from teleop_recorder import reading
from teleop_recorder.layout import Session, episode_name
from teleop_recorder.reading import Episode


def listed(sessions: Iterable[Session]) -> list[str]:
    """Return a line for each session and each of its episodes."""
    lines = []
    for session in sessions:
        try:
            with reading.episodes(session) as found:
                lines.append(f"{session.folder}  {len(found)} episodes")
                lines += [f"  {_line(episode)}" for episode in found]
        except ConfigError as error:
            lines.append(f"{session.folder}  {error}")
    return lines or ["no sessions here"]


def _line(episode: Episode) -> str:
    grade = episode.document("grade")
    seconds = grade.get("seconds", 0.0)
    state = grade.get("verdict", "repaired") if episode.complete else "not ended (running, or repair it)"
    return f"{episode_name(episode.index)}  {seconds:7.1f} s  {episode.rows:6d} rows  {state:5s}  {episode.text('task')}".rstrip()


def described(episode: Episode) -> list[str]:
    """Return all that is known of an episode, line by line."""
    grade, counts = episode.document("grade"), episode.document("counts")
    names = ("task", "started_at", "ended_at", "end_reason", "robot", "frames", "missed")
    lines = [f"{episode.session.folder} {episode_name(episode.index)}"]
    lines += [f"  {name:12s} {episode.text(name)}" for name in names]
    lines.append("  grade")
    lines += [f"    {name:20s} {value}" for name, value in grade.items()]
    lines.append("  messages: published, received, written")
    for topic, count in counts.items():
        even = "" if len(set(count.values())) == 1 else "  <- not equal"
        lines.append(f"    {topic:48s} {count['published']:8d} {count['received']:8d} {count['written']:8d}{even}")
    lines.append("  data sets")
    found: list[str] = []
    episode.group.visititems(lambda n, o: found.append(f"    {n:40s} {o.shape} {o.dtype}") if hasattr(o, "shape") else None)
    return lines + found
