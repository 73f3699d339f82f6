"""The JAX functions that are tried; each file holds one kind."""
from . import control, libraries, mixed, models, numbers, ordering, shapes, training  # noqa: F401: they register their programs.
from .registry import Program, programs  # noqa: F401
