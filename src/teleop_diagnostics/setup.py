from setuptools import find_packages, setup

NAME = "teleop_diagnostics"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="XR Teleop maintainers",
    maintainer_email="maintainers@example.com",
    description="Status of every provider and device; plugins and their processes.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "device_status = teleop_diagnostics.executables:device_status",
        ]
    },
)
