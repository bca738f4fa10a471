from setuptools import find_packages, setup

NAME = "ros2cli"

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
    description="Subset of the ros2 command line for machines without a ROS install.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
    # not in lib/ros2cli: the command is for people, so it goes where PATH looks
    entry_points={"console_scripts": ["ros2 = ros2cli.cli:main"]},
)
