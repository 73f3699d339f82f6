"""Text tables: the first column to the left, figures to the right."""


def render(header: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = [_line(header, widths), "  ".join("-" * width for width in widths)]
    return "\n".join(lines + [_line(row, widths) for row in rows])


def figure(value: float | None, missing: str = "-") -> str:
    """Three significant digits, which is more than a shared machine is good for."""
    if value is None:
        return missing
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def _line(cells: list[str], widths: list[int]) -> str:
    padded = [cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(zip(cells, widths))]
    return "  ".join(padded).rstrip()
