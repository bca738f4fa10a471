"""The terminal: tables and live displays by rich, answers from standard input; with ``--json`` words go to standard error."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from teleop_hw_so101.tools.desk import Rows, Show, ToolError

_STYLE = {"good": "green", "bad": "red"}


class Terminal:
    """Talks to somebody in front of a terminal.

    Args:
        as_json: standard output carries JSON alone.
        yes: answer every question with yes.
    """

    def __init__(self, as_json: bool, yes: bool) -> None:
        """Choose where words go."""
        self._console = Console(stderr=as_json, highlight=False)
        self._json, self._yes = as_json, yes

    def say(self, text: str, style: str = "") -> None:
        """Show a line."""
        self._console.print(text, style=_STYLE.get(style), markup=False, soft_wrap=True)

    def table(self, title: str, columns: Sequence[str], rows: Rows) -> None:
        """Show a table."""
        self._console.print(_table(title, columns, rows))

    @contextmanager
    def live(self, title: str, columns: Sequence[str]) -> Iterator[Show]:
        """Give a function that shows newer rows in place of the last."""
        with Live(console=self._console, auto_refresh=False, transient=False) as live:

            def show(rows: Rows) -> None:
                live.update(_table(title, columns, rows), refresh=self._console.is_terminal)

            yield show

    def ask(self, question: str, choices: Sequence[str]) -> str:
        """Return one of ``choices``, or whatever was typed where there are none.

        Raises:
            ToolError: there is nobody to ask.
        """
        if self._yes and "y" in choices:
            return "y"
        while True:
            self._console.print(f"{question} [{'/'.join(choices)}] " if choices else f"{question} ", end="", markup=False)
            line = sys.stdin.readline()
            if not line:
                raise ToolError(f"question '{question}': got no answer, allowed one of {list(choices)}; use a terminal, or --yes")
            answer = line.strip().lower()
            if not choices or answer in choices:
                return answer

    def pressed(self) -> bool:
        """Return whether Enter was pressed since the last time."""
        if not select.select([sys.stdin], [], [], 0.0)[0]:
            return False
        return bool(sys.stdin.readline()) or not sys.stdin.isatty()

    def record(self, data: dict[str, Any]) -> None:
        """Write one record as a line of JSON."""
        if self._json:
            sys.stdout.write(json.dumps(data) + "\n")
            sys.stdout.flush()


def _table(title: str, columns: Sequence[str], rows: Rows) -> Table:
    # Text: square brackets of units and values are no markup
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        words = index == 0 or not column
        table.add_column(Text(column), justify="left" if words else "right", overflow="fold", no_wrap=index == 0)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
