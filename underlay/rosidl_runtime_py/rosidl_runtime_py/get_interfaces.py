"""Which interfaces are installed, from the ament index."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ament_index_python import get_resource, get_resources, has_resource

_INDEX = "rosidl_interfaces"
_KINDS = ("msg", "srv", "action")


def _interfaces(packages: Iterable[str] | None, kind: str | None) -> dict[str, list[str]]:
    known = get_resources(_INDEX)
    found: dict[str, list[str]] = {}
    for package in sorted(known if packages is None else packages):
        if package not in known:
            raise LookupError(f"Unknown package '{package}'")
        lines = get_resource(_INDEX, package)[0].splitlines()
        # a service's and an action's generated parts are no interfaces that a person names
        names = {str(Path(line).with_suffix("")) for line in lines if line.endswith((".msg", ".srv", ".action", ".idl"))}
        names = {name for name in names if name.split("/")[0] in ((kind,) if kind else _KINDS)}
        if names:
            found[package] = sorted(names)
    return found


def get_interfaces(package_names: Iterable[str] | None = None) -> dict[str, list[str]]:
    """Return ``{package: ["msg/Name", "srv/Name", ...]}`` of the named packages, or of all.

    Raises:
        LookupError: a named package has no interfaces or isn't installed.
    """
    return _interfaces(package_names, None)


def get_message_interfaces(package_names: Iterable[str] | None = None) -> dict[str, list[str]]:
    """Return the messages among ``get_interfaces``."""
    return _interfaces(package_names, "msg")


def get_service_interfaces(package_names: Iterable[str] | None = None) -> dict[str, list[str]]:
    """Return the services among ``get_interfaces``."""
    return _interfaces(package_names, "srv")


def get_action_interfaces(package_names: Iterable[str] | None = None) -> dict[str, list[str]]:
    """Return the actions among ``get_interfaces``."""
    return _interfaces(package_names, "action")


def get_interface_packages() -> dict[str, str]:
    """Return ``{package: install prefix}`` of every package with interfaces."""
    return dict(get_resources(_INDEX))


def get_interface_path(interface_name: str) -> str:
    """Return the path of the definition file of ``package/msg/Name`` (an extension may be given).

    Raises:
        ValueError: the name hasn't the form of an interface's name.
        LookupError: package or interface isn't installed.
    """
    parts = interface_name.split("/")
    if len(parts) < 2 or not all(parts):
        raise ValueError(f"Invalid name '{interface_name}'. Expected at least two parts separated by '/'")
    prefix = has_resource("packages", parts[0])
    if not prefix:
        raise LookupError(f"Unknown package '{parts[0]}'")
    base = Path(prefix if isinstance(prefix, str) else prefix[1]) / "share" / interface_name
    candidates = [base] if base.suffix else [base.with_name(base.name + end) for end in (".msg", ".srv", ".action", ".idl")]
    for path in candidates:
        if path.is_file():
            return str(path)
    raise LookupError(f"Could not find the interface '{interface_name}'")
