"""Commands that take the options of another one, so that both always take the same."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import typer

Command = TypeVar("Command", bound=Callable[..., Any])


def add_options(*models: Callable[..., Any], without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Let a command take the options of models after its own; they reach it as its `**chosen`.

    A model is another command, or a dataclass whose fields are options.
    """

    def extend_signature(command: Command) -> Command:
        own = inspect.signature(command).parameters.values()
        named = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = {parameter.name: parameter for parameter in named}
        for model in models:
            for name, parameter in inspect.signature(model).parameters.items():
                if name not in without:
                    taken.setdefault(name, parameter)
        command.__signature__ = inspect.Signature(list(taken.values()))  # type: ignore[attr-defined]
        return command

    return extend_signature


def refuse_options_of(
    model: Callable[..., Any], ctx: typer.Context, *, but: Callable[..., Any], why: str
) -> None:
    """Refuse options that were given though they belong to a model that does not apply."""
    foreign = inspect.signature(model).parameters.keys() - inspect.signature(but).parameters.keys()
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name in foreign and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"has no effect here: {why}", param_hint=parameter.opts[0])
