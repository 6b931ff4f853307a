# SPDX-License-Identifier: BSD-3-Clause
"""Products of sparse dose matrices with vectors."""

from __future__ import annotations

import sys
from typing import Any, Literal, Unpack, cast

import numpy as np

from . import _core
from ._calls import ArrayT, Closing, Event, Progress, device_array, event, like, progress_of
from ._options import DoseMatrixOptions


def _with_type(x: Any, name: str) -> Any:
    """Return an array of integers in C order with a type of this name, where it lies."""
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x, name)
    if str(x.dtype).rpartition(".")[2] == name:
        return x
    return x.astype(name) if hasattr(x, "astype") else x.to(getattr(sys.modules["torch"], name))


def _compressed(matrix: Any) -> tuple[str, tuple[int, int], Any, Any, Any]:
    """Return the format of a sparse matrix, its shape, and its three arrays."""
    form = {"torch.sparse_csr": "csr", "torch.sparse_csc": "csc"}.get(
        str(getattr(matrix, "layout", "")), getattr(matrix, "format", None)
    )
    if form not in ("csr", "csc") or not (hasattr(matrix, "indptr") or hasattr(matrix, "layout")):
        raise TypeError(
            f"DoseMatrix: matrix is of type {type(matrix).__name__} (SciPy's CSR or CSC is "
            "needed); call its method tocsr, or scipy.sparse.csr_array"
        )
    if hasattr(matrix, "indptr"):
        arrays = matrix.indptr, matrix.indices, matrix.data
    elif form == "csr":
        arrays = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    else:
        arrays = matrix.ccol_indices(), matrix.row_indices(), matrix.values()
    for array in arrays:
        if not hasattr(array, "dtype"):
            raise TypeError(
                f"DoseMatrix: an array of matrix is of type {type(array).__name__} (arrays of "
                "numbers are needed); make the matrix by scipy.sparse.csr_array"
            )
    rows, cols = (int(n) for n in matrix.shape)
    return form, (rows, cols), *arrays


class DoseMatrix(Closing[_core.DoseMatrix]):
    """A sparse matrix ready for products with it and with its transpose.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix, CSR or CSC
        Values of float32 or float64. It is copied. Other formats: call its method ``tocsr``. CuPy's
        and PyTorch's are taken too: those on a GPU are copied there, and so lie their vectors.
    cancel, progress
        As `project`.
    **options
        See `DoseMatrixOptions`: ``values`` ('half', 'bfloat16') stores them in 16 bits, ``vectors``
        is the largest number that a product multiplies at once, ``products`` ('forward') leaves out
        the transpose.

    Raises
    ------
    TypeError
        For what is no CSR or CSC matrix.
    ValueError
        For values that are not finite, indices out of range, more than 2^31 - 1 rows or columns.
    OutOfMemory, Cancelled
        As `project`.

    Notes
    -----
    ``A @ x`` takes x of shape (columns,) or (columns, vectors), of float64, or of float32 where the
    stored values are float32. Determinism: the same bits on every backend and for any number of
    threads.
    """

    __slots__ = ("_transposed",)

    def __init__(
        self,
        matrix: Any,
        *,
        cancel: Event | None = None,
        progress: Progress = None,
        **options: Unpack[DoseMatrixOptions],
    ) -> None:
        form, (rows, cols), indptr, indices, data = _compressed(matrix)
        if max(rows, cols) >= 2**31:
            raise ValueError(
                f"DoseMatrix: {rows} rows and {cols} columns (indices have 32 bits); take fewer"
            )
        if str(data.dtype).rpartition(".")[2] not in ("float32", "float64"):
            raise TypeError(
                f"DoseMatrix: values of {data.dtype} (float32 and float64 are taken); call "
                "matrix.astype(numpy.float32)"
            )
        self._core = _core.DoseMatrix(
            form == "csr",
            rows,
            cols,
            _with_type(indptr, "int64"),
            _with_type(indices, "int32"),
            np.ascontiguousarray(data) if isinstance(data, np.ndarray) else data,
            dict(options),
            event(cancel, "DoseMatrix"),
            progress_of(progress, "DoseMatrix"),
        )
        self._transposed: TransposedDoseMatrix | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._core.rows, self._core.cols

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self._core.entries

    @property
    def bytes(self) -> int:
        """Bytes of memory that it holds; 0 once it is closed."""
        return self._core.bytes

    @property
    def T(self) -> TransposedDoseMatrix:
        """The transpose, which shares the memory."""
        if self._transposed is None:
            self._transposed = TransposedDoseMatrix(self)
        return self._transposed

    def report(self, *, transposed: bool = False) -> dict[str, Any]:
        """Return the format that was chosen, its bytes, and what became of the values.

        With ``transposed`` they are those of the transpose.
        """
        return self._core.report(bool(transposed))

    def __call__(
        self,
        x: ArrayT,
        out: object = None,
        *,
        sum: Literal["ordered", "reproducible"] | None = None,
        cancel: Event | None = None,
    ) -> ArrayT:
        """Multiply vectors.

        Parameters
        ----------
        x : array, shape (columns,) or (columns, vectors)
            Of float64, or of float32 where the stored values are float32.
        out : array, shape (rows,) or (rows, vectors), optional
            What is overwritten and returned.
        sum : {'ordered', 'reproducible'}, optional
            How the products of a row are added. By default reproducible for vectors of float64,
            else ordered.
        cancel
            As `project`.

        Returns
        -------
        array of float64, shape (rows,) or (rows, vectors)
            Of float32 where x is.
        """
        return self._apply(x, out, False, sum, cancel)

    def _apply(
        self, x: ArrayT, out: object, transposed: bool, sum: str | None, cancel: Event | None
    ) -> ArrayT:
        stop = event(cancel, "DoseMatrix")
        if out is None and type(x) is not np.ndarray and _core.has_cuda:
            length = self._core.cols if transposed else self._core.rows
            extents = (length, *cast(Any, x).shape[1:])
            out = device_array(x, extents, tuple(range(len(extents))))
        result = self._core.apply(x, out, transposed, "" if sum is None else str(sum), stop)
        return cast(ArrayT, result if type(x) is np.ndarray else like(x, result, out))

    def __matmul__(self, x: ArrayT) -> ArrayT:
        return self._apply(x, None, False, None, None)

    def __repr__(self) -> str:
        if self.bytes == 0:
            return "DoseMatrix(closed)"
        return f"DoseMatrix(shape {self.shape}, {self.nnz} entries, {self.bytes} bytes)"


class TransposedDoseMatrix:
    """The transpose of a `DoseMatrix`: its attribute ``T``."""

    __slots__ = ("_matrix",)

    def __init__(self, matrix: DoseMatrix) -> None:
        self._matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = self._matrix.shape
        return cols, rows

    @property
    def T(self) -> DoseMatrix:
        """The matrix."""
        return self._matrix

    def __call__(
        self,
        x: ArrayT,
        out: object = None,
        *,
        sum: Literal["ordered", "reproducible"] | None = None,
        cancel: Event | None = None,
    ) -> ArrayT:
        """Multiply vectors by the transpose.

        Parameters
        ----------
        x : array, shape (rows,) or (rows, vectors)
            As of `DoseMatrix`.
        out, sum, cancel
            As of `DoseMatrix`.

        Returns
        -------
        array of the same type, shape (columns,) or (columns, vectors)
            The product.
        """
        return self._matrix._apply(x, out, True, sum, cancel)

    def __matmul__(self, x: ArrayT) -> ArrayT:
        return self._matrix._apply(x, None, True, None, None)

    def __repr__(self) -> str:
        return f"{self._matrix!r}.T"
