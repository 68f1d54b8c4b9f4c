from ..results import Cells


def page(cells: Cells) -> str:
    return ""
