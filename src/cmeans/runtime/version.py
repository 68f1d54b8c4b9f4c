"""The version of the library, in the lowest folder, so that all others can import it."""

__version__ = "1.1.0"
