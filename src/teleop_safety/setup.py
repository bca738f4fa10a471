from setuptools import find_packages, setup

NAME = "teleop_safety"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={f"{NAME}.fuzz": ["corpus/*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="XR Teleop maintainers",
    maintainer_email="maintainers@example.com",
    description="The guard: authority, limits, collision filter, commits, e-stop.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "guard = teleop_safety.executables:guard",
        ]
    },
)
