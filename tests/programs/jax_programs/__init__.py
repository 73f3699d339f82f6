"""The JAX functions that are tried; each file holds one kind."""
from . import chances, control, derivatives, libraries, mixed, models, networks, numbers, ordering, shapes, surface, symbolic, training  # noqa: F401: they register their programs.
from .registry import Program, programs  # noqa: F401
