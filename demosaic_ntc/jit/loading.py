"""Kept kernels made ready to be called, and no more.

Numba prepares for compiling whenever it loads a kernel: it learns all it knows of Python and NumPy, and reads
the kernel's code in the form in which it could be put into another kernel. Together that takes longer than
all else of a small picture. Here a kernel gets what it needs to run; whoever compiles has the rest done then.

This reaches into Numba, of which other versions may differ: then kernels take longer to load, no more.
"""
# mypy: allow-untyped-calls, allow-untyped-decorators

from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen
from numba.core.compiler import CompileResult

_library: Any = codegen.JITCodeLibrary
_PARTS = ("_unserialize", "_get_module_for_linking", "_finalize_final_module", "_set_compiled_object")


def rebuild(target_context: Any, kept: Any) -> Any:
    """A kernel that can be called, of what was kept of it. Numba's lock is held by whoever loads it."""
    target = target_context.codegen()
    if not all(hasattr(_library, name) for name in _PARTS) or target._library_class is not _library:
        return CompileResult._rebuild(target_context, *kept)
    target._engine._defined_symbols.add(kept[1].llvm_cpython_wrapper_name)
    target._library_class = _LateLibrary
    try:
        return CompileResult._rebuild(target_context, *kept)
    finally:
        target._library_class = _library


class _LateLibrary(codegen.JITCodeLibrary):
    """Machine code whose other form is read when another kernel wants it."""

    other_form: bytes

    @classmethod
    def _unserialize(cls, target: Any, state: Any) -> Any:
        name, kind, content = state
        if kind != "object":
            return super()._unserialize(target, state)
        library: Any = cls(target, name)
        library.enable_object_caching()
        compiled, library.other_form = content
        library._set_compiled_object(compiled)
        library._finalize_final_module()
        return library

    def _get_module_for_linking(self) -> Any:
        """The other form, for another kernel."""
        if self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self.other_form)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return super()._get_module_for_linking()

    def get_pointer_to_function(self, name: str) -> Any:
        """Where a function lies; which there are besides the one for Python, the other form tells."""
        if not self._codegen._engine.is_symbol_defined(name):
            self._get_module_for_linking()
        return super().get_pointer_to_function(name)
