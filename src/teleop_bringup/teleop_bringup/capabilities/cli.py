"""``./teleop capabilities``: what works on this machine, and what to do about what does not."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from teleop_bringup.capabilities.catalogue import survey
from teleop_bringup.capabilities.machine import Machine


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the survey, as a table or as JSON."""
    parser = argparse.ArgumentParser(prog="./teleop capabilities", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    given = parser.parse_args(arguments)
    found = survey(Machine())
    if given.json:
        print(json.dumps({"capabilities": [c._asdict() for c in found]}, indent=1))
        return
    kind = ""
    for c in found:
        if c.kind != kind:
            kind = c.kind
            print(f"{kind}s")
        state = "ok" if c.ready else "not ready" if c.works else "missing"
        why = f"needs {', '.join(c.missing)}: {c.remedy}" if c.missing else c.remedy or c.use
        print(f"  {state:<10} {c.name:<20} {why}")


if __name__ == "__main__":
    main()
