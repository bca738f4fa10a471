from setuptools import find_packages, setup

NAME = "teleop_hw_so101"

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
    description="The SO-101's servo bus: driver, calibration, tools, and an emulated bus.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "so101_driver = teleop_hw_so101.executables:so101_driver",
            "emulated_scene = teleop_hw_so101.executables:emulated_scene",
        ]
    },
)
