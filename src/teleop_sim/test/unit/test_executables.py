import pytest

from teleop_sim.executables import without_opengl


@pytest.mark.parametrize(("known", "lacks"), [((), "libEGL"), (("EGL",), "libOpenGL"), (("GL", "OpenGL"), "libEGL")])
def test_a_machine_without_a_library_is_told_which_and_what_to_do(known, lacks):
    error = without_opengl("egl", lambda name: f"lib{name}.so" if name in known else None)
    assert f"got 'no {lacks}'" in str(error)
    assert "cameras:=false" in str(error)


@pytest.mark.parametrize("known", [("EGL", "OpenGL"), ("EGL", "GL")])
def test_either_library_of_opengl_does(known):
    assert without_opengl("egl", lambda name: name if name in known else None) is None


def test_another_way_to_render_needs_no_egl():
    assert without_opengl("osmesa", lambda name: None) is None
