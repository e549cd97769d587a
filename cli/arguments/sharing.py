"""Commands that take the options of another one, so that both always take the same."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import typer

Command = TypeVar("Command", bound=Callable[..., Any])
Model = Callable[..., Any] | list[inspect.Parameter]


def add_options(*models: Model, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Let a command take the options of models after its own; they reach it as its `**chosen`.

    A model is a list of options, another command, or a dataclass whose fields are options.
    """

    def extend_signature(command: Command) -> Command:
        own = [each for each in _parameters(command) if each.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = {parameter.name: parameter for parameter in own}
        for parameter in (parameter for model in models for parameter in _parameters(model)):
            if parameter.name not in without:
                taken.setdefault(parameter.name, parameter)
        command.__signature__ = inspect.Signature(list(taken.values()))  # type: ignore[attr-defined]
        return command

    return extend_signature


def _parameters(model: Model) -> Iterable[inspect.Parameter]:
    """The options of a model."""
    return model if isinstance(model, list) else inspect.signature(model).parameters.values()


def refuse_options_of(
    model: Callable[..., Any], ctx: typer.Context, *, but: Callable[..., Any], why: str
) -> None:
    """Refuse options that were given though they belong to a model that does not apply."""
    foreign = inspect.signature(model).parameters.keys() - inspect.signature(but).parameters.keys()
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name in foreign and source is not None and source.name == "COMMANDLINE":
            flag = (*parameter.opts, *parameter.secondary_opts)[0]
            raise typer.BadParameter(f"has no effect here: {why}", param_hint=flag)
