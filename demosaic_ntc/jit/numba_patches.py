"""Numba in a hurry: kernels compiled in less time, in a process that will never call them.

Numba turns every function that a kernel calls, its own and those of a few hundred built-in ones, into a whole
program: optimised, with an entrance for Python and one for C, translated into machine code, cached. Then it
copies them into the kernel that calls them and optimises all of it once more. Nobody will ever enter
the inner ones from outside, so here only the outermost is finished. Its code is the same but for the order of
sums in kernels that allow it to change.

Besides, Numba asks itself the same questions thousands of times: whether two sets of options are equal, which
variables a statement names, how an array is made an array. `take_short_cuts` answers them faster, each in a
way of its own; the answers stay the same.

This reaches into Numba, of which other versions may differ: then kernels take longer to compile, no more.
"""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core import base, caching, codegen, compiler, cpu, dispatcher, event, ir, targetconfig

_PARTS = (
    (dispatcher.Dispatcher, "compile"),
    (codegen.CPUCodeLibrary, "_optimize_final_module"),
    (codegen.JITCPUCodegen, "_add_module"),
    (codegen.JITCodeLibrary, "_finalize_specific"),
    (cpu.CPUContext, "get_executable"),
    (cpu.CPUContext, "create_cpython_wrapper"),
    (cpu.CPUContext, "create_cfunc_wrapper"),
    (caching.FunctionCache, "load_overload"),
    (caching.FunctionCache, "save_overload"),
)


def finish_outermost_only() -> bool:
    """From now on compile what is called by a kernel no further than needed to put it into the kernel.

    No kernel may be called in this process afterwards. Return whether this Numba can be told.
    """
    if not all(hasattr(owner, name) for owner, name in _PARTS):
        return False
    depth = _Depth()
    for owner, name in _PARTS:
        before = getattr(owner, name)
        if name == "compile":
            setattr(owner, name, depth.count_calls(before))
        else:
            setattr(owner, name, depth.choose_by_depth(before, _INSTEAD.get(name, _do_nothing)))
    return True


class _Depth:
    """How many compilations are under way, one in the other."""

    def __init__(self) -> None:
        self._depth = 0

    def count_calls(self, compiling: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that compiles and is counted.

        Numba would compile a function anew for every constant that it is called with.
        """

        def count(function: Any, wanted: Any) -> Any:
            self._depth += 1
            try:
                return compiling(function, tuple(map(types.unliteral, wanted)))
            finally:
                self._depth -= 1

        return count

    def choose_by_depth(self, outermost: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does one thing for the outermost compilation and another for inner ones."""

        def choose(*arguments: Any, **named: Any) -> Any:
            return (outermost if self._depth <= 1 else inner)(*arguments, **named)

        return choose


def _do_nothing(*_arguments: Any, **_named: Any) -> None:
    """Leave it."""


def _replace_code(_context: Any, library: Any, description: Any, environment: Any) -> Any:
    """Return what stands for a compiled function, with no machine code behind it."""
    library._ensure_finalized()
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))


_INSTEAD = {"get_executable": _replace_code}


def take_short_cuts() -> None:
    """From now on spend less on finding out what is known. What this Numba does not have is passed over."""
    for way in _WAYS:
        with suppress(AttributeError, ImportError):
            way()


def _instead(owner: Any, name: str, way: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what an owner must have by what is made of it."""
    setattr(owner, name, way(getattr(owner, name)))


def _compare_options() -> None:
    """Sets of options differ, if at all, in what either sets: the rest need not be looked up."""

    def compare(slowly: Callable[..., Any]) -> Callable[..., Any]:
        def equal(one: Any, other: Any) -> Any:
            if type(one) is not type(other):
                return slowly(one, other)
            names = one._values.keys() | other._values.keys()
            same = one is other or one._values == other._values
            return same or all(getattr(one, name) == getattr(other, name) for name in names)

        return equal

    _instead(targetconfig.TargetConfig, "__eq__", compare)
    # As coarse as Numba's own, which is that of the names of the options.
    _instead(targetconfig.TargetConfig, "__hash__", lambda _: lambda options: hash(type(options)))


def _list_variables() -> None:
    """The variables of a statement, without a list for each of its parts."""
    without = {str, int, bool, type(None), ir.Loc}

    def gather(value: Any, found: list[Any]) -> None:
        if isinstance(value, ir.Var):
            found.append(value)
        elif type(value) in without:
            pass
        elif isinstance(value, ir.Inst):
            found.extend(value.list_vars())
        elif isinstance(value, list | tuple | dict):
            for part in value.values() if isinstance(value, dict) else value:
                gather(part, found)

    def list_variables(_statement: Any, value: Any) -> list[Any]:
        found: list[Any] = []
        gather(value, found)
        return found

    _instead(ir.Inst, "_rec_list_vars", lambda _: list_variables)


def _tell_nobody() -> None:
    """Nobody listens to how far a compilation is."""
    nothing = nullcontext()
    _instead(event, "trigger_event", lambda _: lambda *_arguments, **_named: nothing)
    _instead(event, "start_event", lambda _: _do_nothing)
    _instead(event, "end_event", lambda _: _do_nothing)


def _know_arrays() -> None:
    """An array is one: Numba searches all definitions for a way to make it one wherever it is touched."""

    def is_known(search: Callable[..., Any]) -> Callable[..., Any]:
        def found(context: Any, function: Any, signature: Any, *rest: Any, **named: Any) -> Any:
            if function == "__array__" and type(signature.args[0]) is types.Array:
                raise NotImplementedError
            return search(context, function, signature, *rest, **named)

        return found

    _instead(base.BaseContext, "get_function", is_known)


# Numba's passes over what our kernels do not have, and names by which they would tell.
_FOR_CLOSURES = {"WithLifting", "InlineClosureLikes", "MakeFunctionToJitFunction", "RewriteDynamicRaises"}
_FOR_LITERALS = {"FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass"}
_TELLING = {"literally", "literal_unroll", "isinstance", "hasattr", "prange", "objmode"}


def _leave_out_passes() -> None:
    """Our kernels have no functions or contexts within and raise nothing: passes for these are left out."""

    def shorten_passes(complete: Callable[..., Any]) -> Callable[..., Any]:
        def shorten(compilation: Any) -> Any:
            pipelines = complete(compilation)
            for pipeline in pipelines if _is_plain(compilation.state.func_id) else ():
                skipped = _FOR_CLOSURES | _FOR_LITERALS
                pipeline.passes = [each for each in pipeline.passes if each[0].__name__ not in skipped]
                pipeline.finalize()
            return pipelines

        return shorten

    _instead(compiler.Compiler, "define_pipelines", shorten_passes)


def _is_plain(identity: Any) -> bool:
    """Tell whether a function is ours and has nothing that those passes are for."""
    code = identity.code
    inner = [constant for constant in code.co_consts if isinstance(constant, type(code))]
    ours = identity.modname.split(".")[0] == __name__.split(".")[0]
    return ours and not inner and _TELLING.isdisjoint(code.co_names)


def _make_values_only() -> None:
    """Functions are optimised where they are called; before, no more than their variables made values."""
    from llvmlite.binding import newpassmanagers  # noqa: PLC0415 (not in every llvmlite)

    def tidy(library: Any, module: Any) -> None:
        module.data_layout = library._codegen._data_layout
        passes, builder = newpassmanagers.create_new_function_pass_manager(), library._codegen._pass_builder()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    _instead(codegen.CPUCodegen, "_pass_builder", lambda there: there)
    _instead(codegen.CPUCodeLibrary, "_optimize_functions", lambda _: tidy)


_WAYS = (
    *(_compare_options, _list_variables, _tell_nobody, _know_arrays, _leave_out_passes),
    _make_values_only,
)
