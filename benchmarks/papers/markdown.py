"""How pages say things: numbers, tables, pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def page(*parts: str) -> str:
    """Parts one below the other, a blank line between."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def picture(name: str, alt: str, caption: str) -> str:
    """`name`.png; `name`.svg lies beside it."""
    return f"![{alt}]({name}.png)\n\n*{caption}* ([SVG]({name}.svg))"


def short(value: float, digits: int = 3) -> str:
    """.937 for 0.937."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def signed(value: float, digits: int = 3) -> str:
    text = short(value, digits)
    return text if text.startswith("-") else f"+{text}"


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Mean ± standard deviation, of more than one value."""
    text = short(float(np.mean(values)), digits)
    return text + (f" ± {short(float(np.std(values)), digits)}" if len(values) > 1 else "")


def span(values: Sequence[float], digits: int = 3) -> str:
    """Mean (least to largest)."""
    return f"{short(float(np.mean(values)), digits)} ({short(min(values), digits)} to {short(max(values), digits)})"


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def percent(share: float) -> str:
    """Of a share in per cent: .5%, 12%."""
    return f"{share:g}%".replace("0.", ".", 1) if share < 1 else f"{share:g}%"
