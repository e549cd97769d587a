"""Commands that take the options of another one, so that both always take the same."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import typer

Command = TypeVar("Command", bound=Callable[..., Any])


def with_options_of(
    model: Callable[..., Any], *, without: tuple[str, ...] = ()
) -> Callable[[Command], Command]:
    """Let a command take the model's options besides its own; they reach it as its `**chosen`."""

    def extended(command: Command) -> Command:
        own = inspect.signature(command).parameters.values()
        named = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        left_out = {parameter.name for parameter in named}.union(without)
        others = inspect.signature(model).parameters.values()
        more = [parameter for parameter in others if parameter.name not in left_out]
        command.__signature__ = inspect.Signature([*named, *more])  # type: ignore[attr-defined]
        return command

    return extended


def refuse_options_of(
    model: Callable[..., Any], ctx: typer.Context, *, but: Callable[..., Any], why: str
) -> None:
    """Refuse options that were given though they belong to a model that does not apply."""
    foreign = inspect.signature(model).parameters.keys() - inspect.signature(but).parameters.keys()
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name in foreign and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"has no effect here: {why}", param_hint=parameter.opts[0])
