"""What only this subset does: refuse by name."""

import pytest

launch_ros = pytest.importorskip("launch_ros")
pytest.importorskip("launch.subset")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("actions", "LifecycleNode"),
        ("actions", "SetRemap"),
        ("actions", "LoadComposableNodes"),
        ("parameter_descriptions", "Parameter"),
    ],
)
def test_class_outside_of_the_subset_is_refused_by_name(module, name):
    with pytest.raises(NotImplementedError, match=f"{name}.*ros-jazzy-launch-ros"):
        getattr(getattr(launch_ros, module), name)


def test_substitutions_in_parameter_files_are_refused():
    with pytest.raises(NotImplementedError, match="allow_substs.*ros-jazzy-launch-ros"):
        launch_ros.parameter_descriptions.ParameterFile("a.yaml", allow_substs=True)
