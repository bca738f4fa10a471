"""The exceptions of tf2, under the names of the real package."""


class TransformException(Exception):
    """Base of them all."""


class LookupException(TransformException):
    """A frame does not exist."""


class ConnectivityException(TransformException):
    """Two frames are in different trees."""


class ExtrapolationException(TransformException):
    """The time asked for is outside what is known."""


class InvalidArgumentException(TransformException):
    """A frame name or a quaternion that can't be."""
