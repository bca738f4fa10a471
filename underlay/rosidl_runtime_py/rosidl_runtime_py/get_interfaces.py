"""Where the definitions of interfaces are."""

from __future__ import annotations

from pathlib import Path

from ament_index_python import has_resource


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
