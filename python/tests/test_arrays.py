# SPDX-License-Identifier: BSD-3-Clause
"""What arrays are taken, and by which sentence others are refused."""

import re

import numpy as np
import pytest

import isocenter as iso
from isocenter import _core
from conftest import run_python
from exchange_support import LENT, Exchanged, Later

# What every refusal looks like: "function: problem (reason); advice".
SENTENCE = re.compile(r"^[\w.]+( \([\w-]+\))?: .+ \(.+\); .+[^.]$", re.S)


class Lender:
    """An array that is known by DLPack alone, as those of other frameworks are."""

    def __init__(self, array, old=False, device=(1, 0), **attributes):
        self.array, self.old, self.device = array, old, device
        self.__dict__.update(attributes)

    def __dlpack__(self, **options):
        if self.old:
            if options.pop("max_version", None):
                raise TypeError("unexpected keyword argument 'max_version'")
            return self.array.__dlpack__(**options)
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


def misaligned(a):
    bytes_ = np.zeros(a.nbytes + 1, np.uint8)
    odd = bytes_[1:].view()[: a.nbytes].view(a.dtype).reshape(a.shape)
    odd[...] = a
    return odd


def overlapping(a):
    z, y, x = a.shape
    return np.lib.stride_tricks.as_strided(
        np.zeros(a.size, a.dtype), a.shape, (4, 4 * z, 4 * (z * y - 1))
    )


def read_only(a):
    a = a.copy()
    a.setflags(write=False)
    return a


REFUSED = {
    "gap": (lambda a: np.repeat(a, 2, 0)[::2], ValueError, "gaps between its elements"),
    "gap inside": (lambda a: np.repeat(a, 2, 2)[..., ::2], ValueError, "gaps"),
    "record": (
        lambda a: np.zeros(a.shape, [("value", "f4"), ("other", "i2")])["value"],
        ValueError,
        "gaps",
    ),
    "reversed": (lambda a: a[::-1], ValueError, "reversed along axis 0"),
    "reversed columns": (lambda a: a[:, :, ::-1], ValueError, "reversed along axis 2"),
    "expanded": (
        lambda a: np.broadcast_to(a[:1], a.shape),
        ValueError,
        "expanded along axis 0",
    ),
    "overlapping": (overlapping, ValueError, "share memory"),
    "misaligned": (misaligned, ValueError, "multiple of 4 bytes"),
    "masked": (lambda a: np.ma.masked_less(a, 0.5), TypeError, r"call \w+\.filled\(value\)"),
    "other byte order": (lambda a: a.astype(">f4"), TypeError, r">f4 .*astype"),
    "integers": (lambda a: a.astype(np.int32), TypeError, "int32 .float32 and float64 are taken"),
    "half": (lambda a: a.astype(np.float16), TypeError, "float16"),
    "complex": (lambda a: a.astype(np.complex64), TypeError, "complex64"),
    "objects": (lambda a: a.astype(object), TypeError, "object"),
    "booleans": (lambda a: a > 0.5, TypeError, "bool"),
    "text": (lambda a: a.astype("U4"), TypeError, "U4"),
    "elements of no bytes": (lambda a: np.zeros(a.shape, "V0"), TypeError, "V0"),
    "records": (lambda a: np.zeros(a.shape, "f4,i4"), TypeError, "astype"),
    "dates": (lambda a: np.zeros(a.shape, "M8[s]"), TypeError, "datetime64"),
    "list": (lambda a: a.tolist(), TypeError, r"call numpy.asarray\("),
    "none": (lambda a: None, TypeError, "NoneType"),
    "number": (lambda a: 1.0, TypeError, "float"),
    "bytes": (lambda a: a.tobytes(), TypeError, "bytes"),
    "shape": (lambda a: a[:-1].copy(), ValueError, "of shape .* is needed"),
    "turned": (lambda a: a.transpose(2, 1, 0).copy(), ValueError, "of shape"),
    "flat": (lambda a: a.ravel(), ValueError, r"of shape \(\d+,\)"),
    "four axes": (lambda a: a[None], ValueError, "of shape"),
    "five axes": (lambda a: a[None, None], ValueError, "5 axes"),
    "empty": (lambda a: a[:0], ValueError, "of shape"),
    "scalar array": (lambda a: np.float32(1), TypeError, "float32"),
    "no axes": (lambda a: np.array(1, np.float32), ValueError, r"of shape \(\)"),
    "GPU": (lambda a: Lender(a, device=(2, 0)), TypeError, "isocenter-cu13"),
    "other device": (lambda a: Lender(a, device=(10, 0)), TypeError, "type 10"),
    "gradient": (lambda a: Lender(a, requires_grad=True), TypeError, r"call \w+\.detach\(\)"),
    "lender of gaps": (lambda a: Lender(np.repeat(a, 2, 0)[::2]), ValueError, "gaps"),
    "lender reversed": (lambda a: Lender(a[::-1]), ValueError, "reversed"),
    "lender expanded": (
        lambda a: Lender(np.broadcast_to(a[:1], a.shape)),
        ValueError,
        "expanded",
    ),
    "lender of integers": (lambda a: Lender(a.astype(np.int64)), TypeError, "float32"),
}
if _core.has_cuda:
    # The memory that it lends is none of a GPU: the plug-in would take it.
    del REFUSED["GPU"]


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("call", ["project", "back_project", "Projector", "Projector.T"])
def test_input_is_refused_by_a_sentence(scan, grid, volume, readings, case, call):
    make, error, words = REFUSED[case]
    good = volume if call in ("project", "Projector") else readings
    bad = make(good)
    projector = iso.Projector(scan, grid)
    calls = {
        "project": lambda x: iso.project(scan, grid, x),
        "back_project": lambda x: iso.back_project(scan, grid, x),
        "Projector": projector,
        "Projector.T": projector.T,
    }
    with pytest.raises(error, match=words) as caught:
        calls[call](bad)
    assert SENTENCE.match(str(caught.value)), str(caught.value)
    assert str(caught.value).startswith(call)
    # The next call works.
    assert np.isfinite(calls[call](good)).all()


OUT_REFUSED = {
    **{name: REFUSED[name] for name in ("gap", "reversed", "misaligned", "integers", "shape")},
    "read-only": (read_only, ValueError, "read-only"),
    "expanded": (lambda a: np.broadcast_to(a[:1], a.shape), ValueError, "read-only|expanded"),
    "other type": (lambda a: a.astype(np.float64), TypeError, "the input has float32"),
    "lender read-only": (lambda a: Lender(read_only(a)), ValueError, "read-only"),
    "masked": (REFUSED["masked"][0], TypeError, "its mask would be ignored"),
    "list": (REFUSED["list"][0], TypeError, "of type list"),
    "elements of no bytes": REFUSED["elements of no bytes"],
    "dates": REFUSED["dates"],
    "overlapping": (
        lambda a: np.lib.stride_tricks.as_strided(
            np.zeros(a.size, a.dtype), a.shape, (4, 4 * a.shape[0], 4 * (a.shape[0] - 1))
        ),
        ValueError,
        "share memory",
    ),
    **{name: REFUSED[name] for name in ("GPU",) if name in REFUSED},
}
#: What the caller would lose: a call with this advice writes into a temporary.
TEMPORARY = re.compile(r"call |copy |convert ")


@pytest.mark.parametrize("case", OUT_REFUSED)
def test_out_is_refused_by_a_sentence(scan, grid, volume, readings, case):
    make, error, words = OUT_REFUSED[case]
    bad = make(readings)
    before = None if isinstance(bad, (list, Lender)) else np.array(bad)
    with pytest.raises(error, match=words) as caught:
        iso.project(scan, grid, volume, out=bad)
    text = str(caught.value)
    assert SENTENCE.match(text), text
    assert not TEMPORARY.match(text.rpartition("; ")[2]), text
    if before is not None:
        np.testing.assert_array_equal(np.array(bad), before)
    with pytest.raises(error, match=words):
        iso.Projector(scan, grid)(volume, out=bad)


OUT_ADVICE = r"; give an array made by numpy.empty\(shape, dtype\), or leave out out$"


@pytest.mark.parametrize("case", ["gap", "reversed", "misaligned", "masked", "integers", "list"])
def test_advice_about_out(scan, grid, volume, readings, case):
    with pytest.raises((ValueError, TypeError), match=OUT_ADVICE):
        iso.project(scan, grid, volume, out=REFUSED[case][0](readings))
    with pytest.raises(ValueError, match=r"; leave out out, or leave copy out$"):
        iso.project(scan, grid, iso.native(volume), out=readings, copy=False)


NO_NUMBERS = {
    "masked": np.ma.masked_less(np.arange(3.0), 1.0),
    "masked parts": [np.ma.masked_less(np.arange(3.0), 1.0)] * 2,
    "complex": np.arange(3) * 1j,
    "complex number": [1j],
    "string": "1.5",
    "strings": ["1.5", "2"],
    "bytes": np.array([b"1"]),
    "none": None,
    "nones": [0.0, None],
    "dates": np.zeros(2, "M8[s]"),
    "objects": np.array([1.0, 2.0], object),
}


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_lists_of_numbers_are_real_numbers(case):
    with pytest.raises(TypeError) as caught:
        iso.Geometry.circular_parallel(pixels=(2, 2), pitch=1.0, angles=NO_NUMBERS[case])
    assert SENTENCE.match(str(caught.value)), str(caught.value)
    assert str(caught.value).startswith("Geometry.circular_parallel: angles is")


def on_a_gpu(a):
    return Lender(a, device=(2, 0))


HOST_ALONE = {
    "angles": lambda x, _: iso.Geometry.circular_parallel(pixels=(2, 2), pitch=1.0, angles=x),
    "fluence": lambda x, _: iso.dose.Beam(x, field=(-1, 1, -1, 1)),
    "dead": lambda x, _: iso.readings.replace_dead_pixels(np.ones((3, 2, 4)), x),
    "slices": lambda x, _: iso.plot.slices(iso.Grid((4, 2, 3), (1.0, 1.0, 1.0)), x),
    "write_volume": lambda x, path: iso.files.write_volume(
        path / "x.mha", x, iso.Grid((4, 2, 3), (1.0, 1.0, 1.0))
    ),
    "write_stack": lambda x, path: iso.files.write_stack(path / "x.mha", x),
    "write_images": lambda x, path: iso.files.write_images(path / "x", x),
    "write_vector": lambda x, path: iso.files.write_vector(path / "x.h5", x),
}


@pytest.mark.parametrize("case", HOST_ALONE)
@pytest.mark.parametrize(
    "make, message",
    [
        (on_a_gpu, "does not lie on the host .*; copy it to the host first"),
        (lambda a: np.ma.masked_less(a, 0.5), "a masked array .*; call its method filled"),
    ],
    ids=["GPU", "masked"],
)
def test_arrays_that_only_the_host_reads(tmp_path, case, make, message):
    with pytest.raises(TypeError, match=message) as caught:
        HOST_ALONE[case](make(np.ones((3, 2, 4))), tmp_path)
    assert SENTENCE.match(str(caught.value)), str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("angles", [[0, 1], (0.0, True), np.arange(2, dtype=np.uint8)])
def test_lists_of_real_numbers_are_taken(angles):
    assert iso.Geometry.circular_parallel(pixels=(2, 2), pitch=1.0, angles=angles).shape[0] == 2


def test_arrays_of_jax_are_never_written(scan, grid, volume, readings):
    # JAX exports its arrays as if they could be written.
    kind = type("Array", (Lender,), {"__module__": "jaxlib._jax"})
    with pytest.raises(ValueError, match="array of JAX .* leave out out"):
        iso.project(scan, grid, volume, out=kind(readings))


@pytest.mark.parametrize("old", [False, True], ids=["versioned", "first form"])
def test_dlpack_shares_memory(scan, grid, volume, old):
    x = iso.native(volume)
    out = iso.native(np.zeros(scan.shape, np.float32), kind="projections")
    # NumPy lends memory by the first form only where it may be written.
    lent = Lender(out, old)
    iso.counters(reset=True)
    assert iso.project(scan, grid, Lender(x, old), out=lent) is lent
    assert iso.counters()["reorders"] == iso.counters()["allocations"] == 0
    assert np.array_equal(out, iso.project(scan, grid, x))


def test_dlpack_gives_memory_back(scan, grid, volume):
    import sys

    x = volume.copy()
    lender = Lender(x)
    iso.project(scan, grid, lender)
    before = sys.getrefcount(x)
    for _ in range(50):
        iso.project(scan, grid, lender)
    with pytest.raises(ValueError):
        iso.project(scan, iso.Grid((2, 2, 2)), lender)
    assert sys.getrefcount(x) == before


def test_result_is_of_the_framework_of_the_input(scan, grid, volume, monkeypatch):
    import sys
    import types

    framework = types.ModuleType("framework")
    kind = type("Tensor", (Lender,), {"__module__": "framework.tensors"})
    framework.from_dlpack = lambda x: kind(np.from_dlpack(x))
    monkeypatch.setitem(sys.modules, "framework", framework)
    result = iso.project(scan, grid, kind(volume))
    assert type(result) is kind
    assert np.array_equal(result.array, iso.project(scan, grid, volume))
    assert type(iso.Projector(scan, grid)(kind(volume))) is kind


def test_dlpack_object_that_lies(scan, grid):
    class Liar:
        def __dlpack__(self, **options):
            return "no capsule"

    with pytest.raises(TypeError, match="no tensor of DLPack"):
        iso.project(scan, grid, Liar())

    class Broken:
        def __dlpack__(self, **options):
            raise RuntimeError("its own words")

    with pytest.raises(RuntimeError, match="its own words"):
        iso.project(scan, grid, Broken())

    class Refuses:
        def __dlpack__(self, **options):
            raise BufferError("cannot be shared")

    with pytest.raises(ValueError, match=r"\(cannot be shared\)"):
        iso.project(scan, grid, Refuses())


def test_input_and_output_may_not_share_memory(scan):
    both = iso.Grid(scan.shape[::-1])
    x = iso.native(np.ones(scan.shape, np.float32))
    out = x.reshape(-1, order="F").reshape((12, 24, 20)).transpose(0, 2, 1)
    assert np.shares_memory(x, out)
    with pytest.raises(ValueError, match="overlap|memory"):
        iso.project(scan, both, x, out=out)


def test_hypothesis_on_the_array_protocol(scan, grid):
    import os

    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    examples = int(os.environ.get("ISO_EXAMPLES", "300"))
    kinds = ["f4", "f8", ">f4", "i4", "f2", "?", "c8"]
    shape = grid.shape
    expected = {}

    @hypothesis.settings(max_examples=examples, deadline=None, derandomize=examples == 300)
    @hypothesis.given(
        kind=st.sampled_from(kinds),
        order=st.permutations((0, 1, 2)),
        steps=st.tuples(*[st.sampled_from([1, 1, 1, -1, 2])] * 3),
        cut=st.tuples(*[st.sampled_from([0, 0, 0, 1])] * 3),
        offset=st.sampled_from([0, 0, 1, 2, 4]),
        lent=st.booleans(),
    )
    def check(kind, order, steps, cut, offset, lent):
        dtype = np.dtype(kind)
        # A block of memory in which the array lies in this order, with steps and an offset.
        full = [abs(s) * n for s, n in zip(steps, shape, strict=True)]
        laid = [full[axis] for axis in order]
        memory = np.zeros(int(np.prod(laid)) * dtype.itemsize + 8, np.uint8)
        block = memory[offset : offset + int(np.prod(laid)) * dtype.itemsize].view(dtype)
        a = block.reshape(laid).transpose(np.argsort(order))
        a = a[tuple(slice(None, None, s) for s in steps)]
        a[...] = np.arange(a.size).reshape(a.shape) % 7
        a = a[tuple(slice(0, n - c) for n, c in zip(shape, cut, strict=True))]
        good = (
            kind in ("f4", "f8")
            and cut == (0, 0, 0)
            and all(s == 1 for s in steps)
            and a.ctypes.data % dtype.itemsize == 0
        )
        given = a
        if lent:
            try:
                a.__dlpack__()
            except BufferError:
                return
            given = Lender(a)
        if good:
            if kind not in expected:
                expected[kind] = iso.project(scan, grid, np.array(a, order="C"))
            assert np.array_equal(iso.project(scan, grid, given), expected[kind])
        else:
            with pytest.raises((ValueError, TypeError)) as caught:
                iso.project(scan, grid, given)
            assert SENTENCE.match(str(caught.value)), str(caught.value)

    check()


def test_no_memory():
    out, _ = run_python(
        """
        import numpy as np, isocenter as iso
        scan = iso.Geometry.circular_cone(pixels=(60000, 60000), pitch=1.0, source_axis=1e3,
            source_detector=2e3, angles=iso.even_angles(1000, 6.28))
        grid = iso.Grid((8, 8, 8))
        try:
            iso.project(scan, grid, np.ones(grid.shape, np.float32))
        except MemoryError as e:
            assert isinstance(e, iso.OutOfMemory), e
            assert e.requested >= 4 * 60000**2 * 1000 > e.available > 0
            print(e)
        scan = scan.from_vectors(scan.vectors()[:1], pixels=(4, 4))
        assert np.isfinite(iso.project(scan, grid, np.ones(grid.shape, np.float32))).all()
        """
    )
    assert "requested" in out or "bytes" in out


@pytest.mark.parametrize("kind", [Exchanged, Later])
def test_c_exchange_api_is_used_where_a_type_has_one(scan, grid, volume, kind):
    wanted = iso.project(scan, grid, volume)
    x, out = kind(volume), kind(np.zeros(scan.shape, np.float32))
    assert iso.project(scan, grid, x, out=out) is out
    assert np.array_equal(out.array, wanted)
    assert (x.taken, out.taken) == (1, 1) and not LENT
    with iso.Projector(scan, grid) as A:
        assert np.array_equal(A(x), wanted)
    assert not LENT


def test_what_the_c_exchange_api_gives_is_checked(scan, grid, volume, readings):
    for x, words in (
        (Exchanged(volume[:, :, ::2]), "shape|gaps"),
        (Exchanged(volume[::-1]), "reversed"),
    ):
        with pytest.raises(ValueError, match=words):
            iso.project(scan, grid, x)
    with pytest.raises(ValueError, match="read-only"):
        iso.project(scan, grid, volume, out=Exchanged(readings, flags=1))
    with pytest.raises(TypeError, match="float32 and float64"):
        iso.project(scan, grid, Exchanged(volume.astype(np.int32)))
    graph = Exchanged(volume)
    graph.requires_grad = True
    with pytest.raises(TypeError, match="requires grad"):
        iso.project(scan, grid, graph)

    assert not LENT
    # A capsule of another name is none of this protocol.
    other = type("Other", (Lender,), {"__dlpack_c_exchange_api__": object()})
    assert np.array_equal(iso.project(scan, grid, other(volume)), iso.project(scan, grid, volume))


def test_tensors_of_torch_by_the_c_exchange_api(scan, grid, volume, monkeypatch):
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this torch has none")
    monkeypatch.delattr(torch.Tensor, "__dlpack__")
    found = iso.project(scan, grid, torch.from_numpy(volume))
    assert np.array_equal(np.asarray(found), iso.project(scan, grid, volume))
