import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from teleop_safety.capsules import distance_to_axis, fit

CLOUDS = arrays(np.float64, st.tuples(st.integers(2, 40), st.just(3)), elements=st.floats(-0.3, 0.3))


@settings(max_examples=50)
@given(CLOUDS)
def test_any_cloud_lies_inside_its_capsule(cloud):
    capsule = fit(cloud)
    assert distance_to_axis(cloud, capsule).max() <= capsule.radius
    assert np.isfinite(capsule.volume)


def test_points_of_a_capsule_give_back_nearly_that_capsule():
    rng = np.random.default_rng(3)
    axis = np.array([0.2, 0.5, -0.7]) / np.linalg.norm([0.2, 0.5, -0.7])
    shell = rng.normal(size=(4000, 3))
    shell = 0.03 * shell / np.linalg.norm(shell, axis=1)[:, None] + rng.random(4000)[:, None] * 0.12 * axis
    capsule = fit(shell)
    assert 0.029 <= capsule.radius <= 0.032
    assert abs(abs((capsule.end - capsule.start) @ axis) / np.linalg.norm(capsule.end - capsule.start) - 1.0) < 0.005


def test_a_single_point_repeated_gives_a_tiny_sphere():
    capsule = fit(np.full((3, 3), 0.1))
    assert capsule.radius < 1e-5
