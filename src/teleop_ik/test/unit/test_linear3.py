import numpy
import pytest

from teleop_ik import linear3


def matrices(count=100):
    rng = numpy.random.default_rng(1)
    for _ in range(count):
        columns = rng.normal(size=(3, 5)) * rng.uniform(0.01, 3.0, size=(3, 1))
        yield columns, columns @ columns.T


def packed(m):
    return tuple(float(m[i, j]) for i in range(3) for j in range(i, 3))


def test_gram_and_inverse_agree_with_numpy():
    for columns, square in matrices():
        mine = linear3.gram(tuple(map(tuple, columns.T)))
        assert mine == pytest.approx(packed(square))
        assert linear3.determinant(mine) == pytest.approx(numpy.linalg.det(square))
        assert linear3.inverse(mine) == pytest.approx(packed(numpy.linalg.inv(square)), rel=1e-6)


def test_eigenvalues_and_vector_agree_with_numpy():
    for _, square in matrices():
        values, vectors = numpy.linalg.eigh(square)
        least, middle = linear3.two_least(packed(square))
        assert (least, middle) == pytest.approx(values[:2], abs=1e-9 * values[2], rel=1e-6)
        vector = linear3.eigenvector(packed(square), least)
        assert abs(numpy.dot(vector, vectors[:, 0])) == pytest.approx(1.0, abs=1e-6)


def test_a_multiple_of_identity_has_no_single_eigenvector():
    same = (2.0, 0.0, 0.0, 2.0, 0.0, 2.0)
    assert linear3.two_least(same) == (2.0, 2.0)
    assert linear3.eigenvector(same, 2.0) is None


def test_dyad_and_product_agree_with_numpy():
    for _, square in matrices(10):
        v = (0.3, -0.2, 0.9)
        assert linear3.plus_dyad(packed(square), v, 2.0) == pytest.approx(packed(square + 2.0 * numpy.outer(v, v)))
        assert linear3.times(packed(square), v) == pytest.approx(tuple(square @ numpy.array(v)))
