from ..results import Cells


def claims(cells: Cells):
    return []
