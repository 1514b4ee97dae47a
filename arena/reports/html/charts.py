"""Charts as SVG for a page that lets no style through: shapes have classes, and what they say stands in words too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from arena.reports.html.course import Point

SMALL, LARGE = (260, 120), (680, 260)
"""Width and height of a chart."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 26, 6, 6, 16
"""Margins for the numbers at the axes."""


def course(points: Mapping[str, Sequence[Point]], name: str, size: tuple[int, int]) -> Markup:
    """How one bot's strength became clear, with its bar as a band; those of all others are faint lines.

    The horizontal axis counts lists (pairs a pairing), the vertical one is mu, the same for all bots.
    """
    width, height = size
    mine = points[name]
    lists = [point.lists for line in points.values() for point in line]
    low = min(point.mu - point.error for line in points.values() for point in line[1:] or line)
    high = max(point.mu + point.error for line in points.values() for point in line[1:] or line)
    step = _step(high - low)
    low, high = step * (low // step), step * -(-high // step)
    left, right = min(lists), max(lists)

    def x(at: float) -> float:
        return _LEFT + (width - _LEFT - _RIGHT) * ((at - left) / (right - left) if right > left else 0.5)

    def y(mu: float) -> float:
        inside = min(max(mu, low), high)
        return _TOP + (height - _TOP - _BOTTOM) * (high - inside) / (high - low)

    def path(line: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{x(at):.1f} {y(mu):.1f}" for at, mu in line)

    parts = []
    tick = low
    while tick <= high + step / 2:
        parts.append(f'<path class="grid" d="M{_LEFT} {y(tick):.1f}H{width - _RIGHT}"/>')
        parts.append(f'<text class="tick" x="{_LEFT - 4}" y="{y(tick) + 3:.1f}" text-anchor="end">{tick:g}</text>')
        tick += step
    for at, anchor in ((left, "start"), (right, "end")):
        parts.append(f'<text class="tick" x="{x(at):.1f}" y="{height - 3}" text-anchor="{anchor}">{at:,}</text>')
    parts += [
        f'<path class="other" d="{path([(point.lists, point.mu) for point in line])}"/>'
        for other, line in points.items()
        if other != name
    ]
    upper = [(point.lists, point.mu + point.error) for point in mine]
    lower = [(point.lists, point.mu - point.error) for point in reversed(mine)]
    last = mine[-1]
    parts.append(f'<path class="band" d="{path([*upper, *lower])}Z"/>')
    parts.append(f'<path class="line" d="{path([(point.lists, point.mu) for point in mine])}"/>')
    parts.append(f'<circle class="dot" cx="{x(last.lists):.1f}" cy="{y(last.mu):.1f}" r="3"/>')
    return _svg(parts, size, f"Strength over the lists: mu {last.mu:.1f} ± {last.error:.1f} after {last.lists:,}")


def bar(share: float) -> Markup:
    """A bar as wide as a share, for a table that has the number beside it."""
    return Markup(
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(Markup('<rect width="{}" height="10"/>').format(f"{100 * share:.1f}"))


def _svg(parts: Sequence[str], size: tuple[int, int], title: str) -> Markup:
    # All parts are numbers and class names of ours.
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        *size, title, Markup("".join(parts))
    )


def _step(span: float) -> float:
    """Between two lines of the grid: 1, 2 or 5 times a power of ten, for three to six lines."""
    power = 1.0
    while span / power > 6:
        power *= 10
    return next((power / part for part in (10, 5, 2) if span / (power / part) <= 5), power)
