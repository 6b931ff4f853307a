# SPDX-License-Identifier: BSD-3-Clause
"""What all calls have in common: types of arrays, progress, and results of other frameworks."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Generic, Literal, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from . import _core


class Tensor(Protocol):
    """An array of another framework: whatever speaks DLPack."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class Event(Protocol):
    """What cancels a call, such as `threading.Event`."""

    def is_set(self) -> bool:
        """Return whether the call shall end."""
        ...


Real: TypeAlias = np.float32 | np.float64
Array: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
#: Arrays that calls take. What they return is of the same framework.
ArrayT = TypeVar("ArrayT", bound="Array | Tensor")
Axes: TypeAlias = Literal["zyx", "xyz"]
Progress: TypeAlias = bool | Callable[[float], object] | None


class _Closes(Protocol):
    def close(self) -> None: ...


#: An object of the extension module that holds memory.
CoreT = TypeVar("CoreT", bound=_Closes)


class Closing(Generic[CoreT]):
    """What holds memory until it is closed, or its ``with`` block ends."""

    __slots__ = ("_core",)
    _core: CoreT

    def close(self) -> None:
        """Give the memory back. Later calls are refused."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Line:
    """Progress on standard error, where tqdm is not installed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, fraction: float) -> None:
        end = "\n" if fraction >= 1 else ""
        sys.stderr.write(f"\r{self.name}: {100 * fraction:3.0f} %{end}")
        sys.stderr.flush()


class _Bar:
    """Progress by tqdm."""

    def __init__(self, name: str, tqdm: Any) -> None:
        self.bar = tqdm(total=100, desc=name, bar_format="{l_bar}{bar}| {elapsed}<{remaining}")

    def __call__(self, fraction: float) -> None:
        self.bar.update(100 * fraction - self.bar.n)
        if fraction >= 1:
            self.bar.close()


def progress_of(progress: Progress, name: str) -> Callable[[float], object] | None:
    """Return the callable that a call tells its progress, None for none."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        if not callable(progress):
            raise TypeError(
                f"{name}: progress is of type {type(progress).__name__} (True or a callable of a "
                "fraction is needed); give one"
            )
        return progress
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(name)
    return _Bar(name, tqdm)


def like(given: object, result: Any, out: object) -> Any:
    """Return the result as an array of the framework of what was given."""
    if out is not None:
        return out
    if type(given) is np.ndarray or isinstance(given, np.ndarray):
        return result
    module = type(given).__module__.partition(".")[0]
    space = sys.modules.get(module)
    take = getattr(space, "from_dlpack", None)
    own = getattr(given, "__array_namespace__", None)
    if take is None and own is not None:
        take = getattr(own(), "from_dlpack", None)
    return result if take is None else take(result)


def number(x: object, what: str) -> float:
    """Return a real number, or say what is wrong with it."""
    try:
        if isinstance(x, (str, bytes)):
            raise TypeError
        return float(x)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(
            f"{what} is of type {type(x).__name__} (a number is needed); give one"
        ) from None


def finite(x: object, what: str, *, least: float = -np.inf, above: bool = False) -> float:
    """Return a finite number that is not below the least one, or above it."""
    value = number(x, what)
    if not np.isfinite(value) or value < least or (above and value == least):
        wanted = "" if np.isinf(least) else f", {'above' if above else 'at least'} {least:g}"
        raise ValueError(f"{what} is {value:g} (a finite number is needed{wanted}); give one")
    return value


def integer(x: object, what: str) -> int:
    """Return an integer, or say what is wrong with it: a size of 2.5 is a mistake."""
    try:
        if isinstance(x, bool):
            raise TypeError
        value: int = operator.index(x)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"{what} is of type {type(x).__name__} (an integer is needed); give one"
        ) from None
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{what} is {value} (it does not fit 64 bits); give a smaller number")
    return value


def numbers(x: object, count: int, what: str) -> tuple[float, ...]:
    """Return as many numbers; one alone stands for all."""
    if isinstance(x, (int, float, np.integer, np.floating)):
        return (number(x, what),) * count
    return tuple(number(value, what) for value in _sequence(x, count, what))


def integers(x: object, count: int, what: str) -> tuple[int, ...]:
    """Return as many integers."""
    return tuple(integer(value, what) for value in _sequence(x, count, what))


def _sequence(x: object, count: int, what: str) -> tuple[object, ...]:
    try:
        if isinstance(x, (str, bytes)) or not isinstance(x, Iterable):
            raise TypeError
        values = tuple(x)
    except TypeError:
        raise TypeError(
            f"{what} is of type {type(x).__name__} ({count} numbers are needed); give a sequence"
        ) from None
    if len(values) != count:
        raise ValueError(f"{what} has {len(values)} numbers ({count} are needed); give them")
    return values


def host_array(x: object, what: str) -> npt.NDArray[Any]:
    """Return numbers on the host as an array of NumPy's, or say why their memory is not read."""
    parts = x if isinstance(x, (list, tuple)) else (x,)
    if any(isinstance(part, np.ndarray) and hasattr(part, "mask") for part in parts):
        raise TypeError(
            f"{what} is a masked array (its mask would be ignored); call its method filled"
        )
    places = [part.__dlpack_device__()[0] for part in parts if hasattr(part, "__dlpack_device__")]
    if any(int(place) not in (1, 3) for place in places):  # of the host, page-locked or not
        raise TypeError(
            f"{what} does not lie on the host (this call takes arrays on the host alone); "
            "copy it to the host first"
        )
    return np.asarray(x)


def doubles(x: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
    """Return real numbers as an array of float64 in C order, or say what is wrong with them."""
    try:
        given = host_array(x, what)
        if given.dtype.kind in "biuf":
            return np.ascontiguousarray(given, dtype=np.float64)
    except ValueError:
        pass
    dtype = f" of {x.dtype}" if isinstance(x, np.ndarray) else ""
    raise TypeError(
        f"{what} is of type {type(x).__name__}{dtype} (an array of real numbers is needed); "
        "give one"
    )


def shown(x: object) -> str:
    """Return a value for a sentence: a word or a number itself, of all else the type."""
    if isinstance(x, (str, bytes, bool, int, float, type(None))):
        return repr(x)[:80]
    if isinstance(x, (type, np.dtype)):
        return str(getattr(x, "__name__", x))
    return f"of type {type(x).__name__}"


def order(axes: object, function: str) -> str:
    """Return the word for an order of axes."""
    if not isinstance(axes, str) or axes not in ("zyx", "xyz"):
        raise ValueError(
            f"{function}: axes {shown(axes)} (the orders are 'zyx', with (view, v, u), and 'xyz', "
            "with (view, u, v)); choose one of them"
        )
    return str(axes)


def event(cancel: Event | None, function: str) -> Event | None:
    """Return what cancels a call."""
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise TypeError(
            f"{function}: cancel is of type {type(cancel).__name__} (it has no method is_set); "
            "give a threading.Event"
        )
    return cancel


def how(
    function: str,
    options: Mapping[str, Any],
    axes: object,
    copy: bool | None,
    cancel: Event | None,
    progress: Progress,
) -> tuple[dict[str, Any], str, bool, Event | None, Callable[[float], object] | None]:
    """Return the last arguments of calls of the extension module, which all functions share."""
    return (
        dict(options),
        order(axes, function),
        copy is not False,
        event(cancel, function),
        progress_of(progress, function),
    )


def real_type(dtype: npt.DTypeLike, function: str) -> np.dtype[Any]:
    """Return float32 or float64 as a dtype."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        found = np.dtype(object)
    if found not in (np.float32, np.float64):
        raise TypeError(
            f"{function}: dtype {shown(dtype)} (float32 and float64 are possible); choose one of "
            "them"
        )
    return found


def word(x: object, what: str) -> str:
    """Return a word, or say that it is none."""
    if not isinstance(x, str):
        raise TypeError(f"{what} is {shown(x)} (a word is needed); give one")
    return x


def words(x: object, what: str) -> list[str]:
    """Return a list of words; one alone is one."""
    if isinstance(x, str):
        return [x]
    values: list[Any] = [None]
    try:
        values = list(x)  # type: ignore[call-overload]
    except TypeError:
        pass
    if not all(isinstance(value, str) for value in values):
        raise TypeError(
            f"{what} is of type {type(x).__name__} (words are needed); give a word, or a list of "
            "words"
        )
    return values


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def memory_of(memory: int | str | None, function: str) -> int:
    """Return the bytes through which volumes pass; 0: all lies in memory."""
    if memory is None:
        return 0
    given = memory
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", memory)
        unit = _UNITS.get(found[2].upper()) if found else None
        if found is None or unit is None:
            raise ValueError(
                f"{function}: memory {memory!r} (a number with B, KB, MB, GB, KiB, MiB or GiB is "
                "needed); write it as '4GiB'"
            )
        memory = int(min(float(found[1]) * unit, 2.0**64))
    size = integer(memory, f"{function}: memory")
    if size < 1:
        raise ValueError(f"{function}: memory {given!r} (at least one byte is needed); give more")
    return size


def streamed(options: dict[str, Any], divided: int | bool) -> dict[str, Any]:
    """Return the options of what is streamed or on ranks, whose sums are reproducible."""
    return {"sum": "reproducible", **options} if divided else options


#: Places of the library's axes in arrays of volumes and projections, by the word for their order.
VOLUME = {"zyx": (2, 1, 0), "xyz": (0, 1, 2)}
PROJECTIONS = {"zyx": (0, 2, 1), "xyz": (0, 1, 2)}


def device_array(
    like_it: Any, extents: tuple[int, ...], axes: tuple[int, ...], dtype: str | None = None
) -> Any:
    """Return a new array on the GPU where another one lies, of its framework; None on the host.

    Its memory is in the library's order: ``extents`` are the library's, and ``axes`` say which of
    them each axis of the array is. Its numbers are of the type of the other one's unless named.
    """
    if not _core.has_cuda or type(like_it) is np.ndarray:
        return None
    where = getattr(like_it, "__dlpack_device__", None)
    if where is None or int(where()[0]) not in (2, 13):
        return None
    space = sys.modules.get(type(like_it).__module__.partition(".")[0])
    if hasattr(like_it, "permute"):  # PyTorch
        kind = like_it.dtype if dtype is None else getattr(space, dtype)
        return cast(Any, space).empty(extents, dtype=kind, device=like_it.device).permute(axes)
    if space is None or not hasattr(space, "empty"):
        return None
    return space.empty(extents, dtype=like_it.dtype if dtype is None else dtype).transpose(axes)


def device_images(like_it: Any, laid: str, count: int | None = None) -> Any:
    """Return the same for images of a detector, as many as there are unless a count is given."""
    if not _core.has_cuda or len(getattr(like_it, "shape", ())) != 3:
        return None
    images, first, second = like_it.shape
    u, v = (second, first) if laid == "zyx" else (first, second)
    return device_array(like_it, (images if count is None else count, u, v), PROJECTIONS[laid])
