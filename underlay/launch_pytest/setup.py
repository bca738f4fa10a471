from setuptools import find_packages, setup

NAME = "launch_pytest"

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
    description="Subset of launch_pytest for machines without a ROS install.",
    license="Apache-2.0",
    entry_points={"pytest11": ["launch_pytest = launch_pytest.plugin"]},
    extras_require={"test": ["pytest"]},
)
