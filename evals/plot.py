"""A line chart as plain SVG, readable on a light and on a dark page.

A plotting library would bring ten packages for three curves.
"""

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 640, 340
_LEFT, _TOP, _RIGHT, _BOTTOM = 56, 34, 170, 44
_COLOURS = ("#2f7ed8", "#d8472f", "#d89b2f", "#4f9d4f", "#8a5fbf", "#777777")
_TEXT = 'font-family="sans-serif" font-size="12" fill="#777777"'


def chart(
    title: str, x_label: str, xs: Sequence[float], lines: Mapping[str, Sequence[float]], mark: float | None
) -> str:
    """Return an SVG of `lines` over `xs`, values 0 to 1, with a dashed line at `mark` where there is one."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<text x="{_LEFT}" y="18" {_TEXT} font-weight="bold">{escape(title)}</text>',
        *_axes(x_label, xs),
        *([] if mark is None else [_mark(xs, mark)]),
    ]
    for place, (name, ys) in enumerate(lines.items()):
        parts += _line(place, name, xs, ys)
    return "\n".join([*parts, "</svg>", ""])


def _line(place: int, name: str, xs: Sequence[float], ys: Sequence[float]) -> list[str]:
    colour = _COLOURS[place % len(_COLOURS)]
    points = " ".join(f"{_x(xs, x):.1f},{_y(y):.1f}" for x, y in zip(xs, ys, strict=True))
    left, top = _WIDTH - _RIGHT + 14, _TOP + 14 + 20 * place
    return [
        f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>',
        f'<line x1="{left}" y1="{top - 4}" x2="{left + 18}" y2="{top - 4}" stroke="{colour}" stroke-width="2"/>',
        f'<text x="{left + 24}" y="{top}" {_TEXT}>{escape(name)}</text>',
    ]


def _axes(x_label: str, xs: Sequence[float]) -> list[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    levels = [(_y(fifth / 5), f"{fifth / 5:.1f}") for fifth in range(6)]
    steps = [(_x(xs, tenth / 10), f"{tenth / 10:.1f}") for tenth in range(round(xs[0] * 10), round(xs[-1] * 10) + 1)]
    return [
        *(_rule(_LEFT, y, right, y) for y, _ in levels),
        *(_label(_LEFT - 8, y + 4, text, "end") for y, text in levels),
        *(_label(x, bottom + 18, text, "middle") for x, text in steps),
        _label((_LEFT + right) / 2, _HEIGHT - 8, escape(x_label), "middle"),
    ]


def _mark(xs: Sequence[float], mark: float) -> str:
    x = _x(xs, mark)
    return _rule(x, _TOP, x, _HEIGHT - _BOTTOM, ' stroke-dasharray="4 4"')


def _rule(x1: float, y1: float, x2: float, y2: float, more: str = ' stroke-opacity=".35"') -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999999"{more}/>'


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {_TEXT} text-anchor="{anchor}">{text}</text>'


def _x(xs: Sequence[float], x: float) -> float:
    return _LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * (_WIDTH - _RIGHT - _LEFT)


def _y(y: float) -> float:
    return _HEIGHT - _BOTTOM - y * (_HEIGHT - _BOTTOM - _TOP)
