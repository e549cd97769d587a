"""How results show themselves in a notebook: as HTML tables, without any package of a notebook."""

from collections.abc import Mapping
from html import escape


def html_table(rows: Mapping[str, str]) -> str:
    """A table of names and values, safe to put on a page."""
    lines = (
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{''.join(lines)}</table>"
