"""Native code: the C files, and the library that installation makes of them."""

from .calls import function, is_available, variant

__all__ = ["function", "is_available", "variant"]
