from teleop_safety.stall import speeds, suspects, watch


def test_given_speeds_are_taken_as_they_are():
    assert speeds((1.0,), (0.0,), 0.1, (0.5,)) == (0.5,)


def test_speeds_come_from_two_samples_when_none_are_given():
    assert speeds((1.0, 2.0), (0.5, 2.0), 0.5, ()) == (1.0, 0.0)


def test_first_sample_and_one_not_later_have_no_speed():
    assert speeds((1.0,), None, 0.1, ()) == (0.0,)
    assert speeds((1.0,), (0.0,), 0.0, ()) == (0.0,)


def test_far_and_slow_arm_joint_is_suspect_gripper_and_moving_one_are_not():
    reference, measured = (0.3, 0.3, 0.1, 1.5), (0.0, 0.0, 0.0, 0.0)
    assert suspects(reference, measured, (0.0, 0.06, 0.0, 0.0), 3, 0.2, 0.05) == [0]


def test_suspicion_keeps_its_beginning_and_ends_at_once():
    since = watch((), [1], 100, 3)
    assert since == (0, 100, 0)
    since = watch(since, [1, 2], 200, 3)
    assert since == (0, 100, 200)
    assert watch(since, [2], 300, 3) == (0, 0, 200)
