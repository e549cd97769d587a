"""Functions stay short: none is longer than a page, and half of them have six lines besides what they say."""

import ast
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 50  # lines, signature and docstring among them
HALF, NINE_TENTHS = 6, 15  # lines without the docstring that so many functions have at most

Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(node: ast.AST) -> int:
    return (getattr(node, "end_lineno", None) or 0) - getattr(node, "lineno", 0) + 1


def without_docstring(function: Function) -> int:
    first = function.body[0] if ast.get_docstring(function) is not None else None
    return lines_of(function) - (lines_of(first) if first is not None else 0)


def functions() -> dict[str, Function]:
    """All functions of the product, the program and the evaluation, by place and name."""
    found: dict[str, Function] = {}
    for folder in ("demosaic_ntc", "cli", "evaluation"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = node
    assert len(found) > 2000
    return found


def test_lengths_are_counted_with_signatures_and_without_docstrings() -> None:
    source = 'def one(\n    a: int,\n) -> int:\n    """Say\n\n    more.\n    """\n    return a\n'
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    assert (lines_of(function), without_docstring(function)) == (8, 4)


def test_no_function_is_longer_than_a_page() -> None:
    lengths = {name: lines_of(function) for name, function in functions().items()}
    assert not {name: length for name, length in lengths.items() if length > LONGEST}


def test_most_functions_are_short() -> None:
    lengths = [without_docstring(function) for function in functions().values()]
    assert median(lengths) <= HALF
    assert quantiles(lengths, n=10)[-1] <= NINE_TENTHS
