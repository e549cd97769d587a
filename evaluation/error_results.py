"""Results of the benchmark of expected errors as files, and continued from them."""

from .error_benchmark import Key, Record
from .store import ResultStore

FORMAT = "demosaic-ntc benchmark errors 1"


class Store(ResultStore[Record]):
    """The results of this benchmark."""

    form = FORMAT
    kind = Record
    key_kind = Key
    unbounded = ()
