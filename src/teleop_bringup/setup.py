from pathlib import Path

from setuptools import find_packages, setup

NAME = "teleop_bringup"
HERE = Path(__file__).parent


def shared(folder: str) -> list[tuple[str, list[str]]]:
    """Return data_files entries for a folder at the top of the repository (linked into this package)."""
    files = sorted(p for p in (HERE / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    targets: dict[str, list[str]] = {}
    for path in files:
        relative = path.relative_to(HERE)
        targets.setdefault(f"share/{NAME}/{relative.parent}", []).append(str(relative))
    return list(targets.items())


setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *shared("launch"),
        *shared("config"),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="XR Teleop maintainers",
    maintainer_email="maintainers@example.com",
    description="Launch files and configuration of the teleoperation graph, and its system tests.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
)
