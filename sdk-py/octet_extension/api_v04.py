"""The models, methods, errors and bounds of API 0.1, 0.2 and 0.4, the feature wire."""

from octet_extension._generated._json import JsonSyntaxError, Violation
from octet_extension._generated._shapes import ABSENT, Absent
from octet_extension._generated.feature_wire import *  # noqa: F403 - every name of the wire, as its module lists them
from octet_extension._generated.feature_wire import __all__ as _names

__all__ = ["ABSENT", "Absent", "JsonSyntaxError", "Violation", *_names]  # noqa: PLE0604 - these names are strings too
