from setuptools import find_packages, setup

NAME = "teleop_input"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={f"{NAME}.isaac": ["records.fbs"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="XR Teleop maintainers",
    maintainer_email="maintainers@example.com",
    description="Input providers: OpenXR, scripted operator and replay of recorded input.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "debug_input = teleop_input.executables:debug_input",
            "openxr_input = teleop_input.executables:openxr_input",
            "replay_input = teleop_input.executables:replay_input",
        ]
    },
)
