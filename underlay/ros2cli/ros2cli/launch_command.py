"""``ros2 launch``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ament_index_python.packages import get_package_share_directory


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    # As in the real command: without a terminal nobody else sends SIGINT to the processes.
    parser.add_argument(
        "-n", "--noninteractive", action="store_true", default=not sys.stdin.isatty(), help="run without a terminal"
    )
    parser.add_argument("-d", "--debug", action="store_true", help="print more")
    parser.add_argument(
        "-s", "--show-args", "--show-arguments", action="store_true", help="show the arguments of the launch file"
    )
    parser.add_argument("package_name", help="package, or path of a launch file")
    parser.add_argument("launch_file_name", nargs="?", help="launch file of the package")
    parser.add_argument("launch_arguments", nargs="*", help="name:=value")
    parser.set_defaults(main=_launch)


def find_launch_file(package_or_path: str, name: str | None) -> tuple[Path, bool]:
    """Return the launch file and whether it was given as a path.

    Raises:
        LookupError: there is none, or several of that name.
    """
    path = Path(package_or_path)
    if path.is_file():
        return path, True
    if name is None or ":=" in name:
        raise LookupError(f"launch file '{package_or_path}': no such file; give a path, or a package and a file name")
    share = Path(get_package_share_directory(package_or_path))
    found = sorted({item for item in share.rglob(name) if item.is_file()})
    if len(found) != 1:
        reason = "not found" if not found else f"found {len(found)} times"
        raise LookupError(f"launch file '{name}': {reason} in the share directory of package '{package_or_path}' ({share})")
    return found[0], False


def parse_arguments(arguments: list[str]) -> list[tuple[str, str]]:
    """Return (name, value) of each ``name:=value``; the last of a name counts."""
    parsed = {}
    for text in arguments:
        name, separator, value = text.partition(":=")
        if not separator or not name:
            raise RuntimeError(f"malformed launch argument '{text}', expected format '<name>:=<value>'")
        parsed[name] = value
    return list(parsed.items())


def _launch(args: argparse.Namespace) -> int:
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import AnyLaunchDescriptionSource

    path, by_path = find_launch_file(args.package_name, args.launch_file_name)
    given = ([args.launch_file_name] if by_path and args.launch_file_name else []) + args.launch_arguments
    arguments = parse_arguments(given)
    source = AnyLaunchDescriptionSource(str(path))
    if args.show_args:
        return _show(source)
    service = LaunchService(argv=given, noninteractive=args.noninteractive, debug=args.debug)
    service.include_launch_description(LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)]))
    return int(service.run())


def _show(source: object) -> int:
    from launch import LaunchContext
    from launch.utilities import perform_substitutions

    context = LaunchContext()
    description = source.get_launch_description(context)  # type: ignore[attr-defined]
    print("Arguments (pass arguments as '<name>:=<value>'):")
    arguments = description.get_launch_arguments()
    if not arguments:
        print("\n  No arguments.")
    for item in arguments:
        print(f"\n    '{item.name}':\n        {item.description}")
        if item.choices is not None:
            print(f"        Valid choices are: {item.choices}")
        if item.default_value is not None:
            try:
                default = perform_substitutions(context, item.default_value)
            except Exception:  # noqa: BLE001 - any substitution may need what only a running launch has
                default = "".join(part.describe() for part in item.default_value)
            print(f"        (default: '{default}')")
    return 0
