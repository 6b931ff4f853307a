# SPDX-License-Identifier: BSD-3-Clause
"""Arrays by DLPack alone, made with ctypes: by its C exchange API, and on a GPU by the driver."""

import ctypes

import numpy as np


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("id", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [
    ("version", _Version),
    ("context", ctypes.c_void_p),
    ("deleter", _Deleter),
    ("flags", ctypes.c_uint64),
    ("tensor", _Tensor),
]

#: What consumers hold, by the address of the tensor.
LENT = {}


@_Deleter
def _delete(managed):
    del LENT[ctypes.addressof(managed.contents)]


def managed_of(address, shape, strides, dtype, device, owner, flags=0):
    """A tensor that keeps its owner until it is given back; strides are in elements."""
    dtype, rank = np.dtype(dtype), len(shape)
    numbers = (ctypes.c_int64 * rank)(*shape), (ctypes.c_int64 * rank)(*strides)
    code = {"i": 0, "u": 1, "f": 2, "b": 6}[dtype.kind]
    managed = _Managed(
        _Version(1, 3),
        None,
        _delete,
        flags,
        _Tensor(
            address, _Device(*device), rank, _Type(code, 8 * dtype.itemsize, 1), *numbers, 0
        ),
    )
    LENT[ctypes.addressof(managed)] = managed, numbers, owner
    return managed


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_NAMES = {name: name.encode() for name in ("dlpack_exchange_api", "dltensor_versioned")}


def capsule(structure, name):
    return _new(ctypes.addressof(structure), _NAMES[name], None)


_FromObject = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(_Managed))
)
_Stream = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class _Api(ctypes.Structure):
    _fields_ = [
        ("version", _Version),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("from_object", _FromObject),
        ("to_object", ctypes.c_void_p),
        ("describe", ctypes.c_void_p),
        ("current_stream", _Stream),
    ]


@_FromObject
def _from_object(x, out):
    out[0] = ctypes.pointer(x.managed())
    return 0


@_Stream
def _no_stream(kind, device, out):
    raise AssertionError("memory on the host has no stream")


API = _Api(_Version(1, 3), None, None, _from_object, None, None, _no_stream)
#: One that begins with a later version, behind which version 1 stands.
LATER_API = _Api(_Version(2, 0), ctypes.addressof(API), None, _from_object, None, None, _no_stream)


class Exchanged:
    """An array on the host that the C exchange API alone gives."""

    __dlpack_c_exchange_api__ = capsule(API, "dlpack_exchange_api")

    def __init__(self, array, flags=0):
        self.array, self.flags, self.taken = array, flags, 0

    def managed(self):
        self.taken += 1
        a = self.array
        strides = [s // a.itemsize for s in a.strides]
        return managed_of(a.ctypes.data, a.shape, strides, a.dtype, (1, 0), a, self.flags)

    def __dlpack__(self, **options):
        raise AssertionError("the C exchange API is there")


class Later(Exchanged):
    __dlpack_c_exchange_api__ = capsule(LATER_API, "dlpack_exchange_api")


class _Driver:
    """The CUDA driver, in the context that the library's runtime uses."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        assert status == 0, (name, status)


_driver = None


def driver():
    global _driver
    _driver = _driver or _Driver()
    return _driver


class _Memory:
    free = None

    def __init__(self, size):
        self.address = ctypes.c_uint64()
        driver()("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(size, 1)))
        self.free = driver().cuda.cuMemFree_v2  # names of the module may be gone at the end

    def __del__(self):
        if self.free is not None:
            self.free(self.address)


class Plain:
    """An array on GPU 0 that has no more than DLPack and what results are made by."""

    def __init__(self, memory, shape, strides, dtype):
        self.memory, self.shape, self.strides = memory, tuple(shape), tuple(strides)
        self.dtype, self.device = np.dtype(dtype), 0

    def transpose(self, axes):
        shape, strides = [self.shape[n] for n in axes], [self.strides[n] for n in axes]
        return Plain(self.memory, shape, strides, self.dtype)

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream == 1 and max_version >= (1, 0)
        where = self.__dlpack_device__()
        managed = managed_of(
            self.memory.address.value, self.shape, self.strides, self.dtype, where, self.memory
        )
        return capsule(managed, "dltensor_versioned")


def empty(shape, dtype):
    """What the package makes results by, in C order."""
    strides = [int(np.prod(shape[n + 1 :])) for n in range(len(shape))]
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return Plain(_Memory(size), shape, strides, dtype)


def put(x):
    """A copy of an array of NumPy on the GPU, in the same order of memory."""
    order = sorted(range(x.ndim), key=lambda n: -x.strides[n])
    there = empty([x.shape[n] for n in order], x.dtype)
    dense = np.ascontiguousarray(x.transpose(order))
    driver()(
        "cuMemcpyHtoD_v2",
        there.memory.address,
        ctypes.c_void_p(dense.ctypes.data),
        ctypes.c_size_t(dense.nbytes),
    )
    return there.transpose([order.index(n) for n in range(x.ndim)])


def get(x):
    """A copy on the host, once the GPU has done what it was told."""
    driver()("cuCtxSynchronize")
    order = sorted(range(len(x.shape)), key=lambda n: -x.strides[n])
    dense = np.empty([x.shape[n] for n in order], x.dtype)
    driver()(
        "cuMemcpyDtoH_v2",
        ctypes.c_void_p(dense.ctypes.data),
        x.memory.address,
        ctypes.c_size_t(dense.nbytes),
    )
    return dense.transpose([order.index(n) for n in range(len(x.shape))])
