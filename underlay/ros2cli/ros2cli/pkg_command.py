"""``ros2 pkg``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory, get_packages_with_prefixes


def register(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(metavar="verb", required=True)
    verb = verbs.add_parser("list", help="list the packages")
    verb.set_defaults(main=_list)
    verb = verbs.add_parser("prefix", help="print where a package is installed")
    verb.add_argument("--share", action="store_true", help="its share directory")
    verb.add_argument("package_name")
    verb.set_defaults(main=_prefix)
    verb = verbs.add_parser("executables", help="list the executables of a package, or of all")
    verb.add_argument("package_name", nargs="?")
    verb.set_defaults(main=_executables)


def executables(package: str) -> list[Path]:
    """Return the paths of a package's executables, sorted; LookupError when there is no such package."""
    folder = Path(get_package_prefix(package)) / "lib" / package
    return sorted(path for path in folder.glob("*") if path.is_file() and os.access(path, os.X_OK))


def _list(args: argparse.Namespace) -> None:
    print("\n".join(sorted(get_packages_with_prefixes())))


def _prefix(args: argparse.Namespace) -> None:
    print(get_package_share_directory(args.package_name) if args.share else get_package_prefix(args.package_name))


def _executables(args: argparse.Namespace) -> None:
    for package in [args.package_name] if args.package_name else sorted(get_packages_with_prefixes()):
        for path in executables(package):
            print(f"{package} {path.name}")
