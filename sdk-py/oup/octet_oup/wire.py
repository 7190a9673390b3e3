"""The models, methods, errors, limits, features and tables of OUP."""

from octet_oup._generated._json import JsonSyntaxError, Violation
from octet_oup._generated._shapes import ABSENT, Absent
from octet_oup._generated.oup_wire import *  # noqa: F403 - every name of the wire, as its module lists them
from octet_oup._generated.oup_wire import __all__ as _names

__all__ = ["ABSENT", "Absent", "JsonSyntaxError", "Violation", *_names]  # noqa: PLE0604 - these names are strings too
