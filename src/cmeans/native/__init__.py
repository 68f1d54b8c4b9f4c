from .library import function, is_available
