from setuptools import find_packages, setup

NAME = "teleop_recorder"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={f"{NAME}.plot": ["page.html"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="XR Teleop maintainers",
    maintainer_email="maintainers@example.com",
    description="Recording of takes, and what is made of them: HDF5, bags, videos, data sets.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "recorder = teleop_recorder.executables:recorder",
            "replay_actions = teleop_recorder.executables:replay_actions",
            "replay_poses = teleop_recorder.executables:replay_poses",
        ]
    },
)
