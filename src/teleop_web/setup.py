from pathlib import Path

from setuptools import find_packages, setup

NAME = "teleop_web"
HERE = Path(__file__).parent


def pages() -> list[tuple[str, list[str]]]:
    """Return the built pages by target directory; none before `npm run build`."""
    dist = Path("web/dist")
    found: dict[str, list[str]] = {}
    for file in sorted(p for p in (HERE / dist).rglob("*") if p.is_file()):
        inside = file.relative_to(HERE / dist)
        found.setdefault(str(Path("share", NAME, "web") / inside.parent), []).append(str(dist / inside))
    return list(found.items())


setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test", "test.*"]),
    package_data={NAME: ["browser/*.js"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/schema", ["schema/webxr_frame.schema.json"]),
        *pages(),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="XR Teleop maintainers",
    maintainer_email="maintainers@example.com",
    description="HTTPS gateway with the headset page and the desktop cockpit.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "web_gateway = teleop_web.executables:web_gateway",
        ]
    },
)
