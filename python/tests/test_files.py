# SPDX-License-Identifier: BSD-3-Clause
"""Files: as iso::files reads and writes them, and checkpoints that the tool resumes."""

import concurrent.futures
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import isocenter as iso
from conftest import HANG, TOP
from isocenter import files

import files_support

BUILD = pathlib.Path(os.environ.get("ISO_BUILD", TOP / "build" / "openmp"))
DUMP = BUILD / "tests" / "app" / "iso_dump_files"
MAKE = BUILD / "tests" / "app" / "iso_test_files"
TOOL = BUILD / "apps" / "iso" / "iso"
# Damaged at random, where a byte may change what is read and not be noticed; pixels in JPEG, and in
# RLE, have no checksum.
RANDOM = ("damaged.dcm", "third.dcm")
# The folder of files that tests have damaged.
DAMAGED = "damaged"

needs_dump = pytest.mark.skipif(not DUMP.exists(), reason=f"{DUMP} is not built")
needs_tool = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")


def ask(command, questions):
    lines = "".join(f"{kind}\t{path}\n" for kind, path in questions)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=HANG)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(questions), (done.returncode, questions[len(told)], done.stderr[-500:])
    return told


def both(questions):
    """What the library and this package say of files, without what only one says."""
    support = str(pathlib.Path(files_support.__file__))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        commands = ([str(DUMP)], [sys.executable, "-P", support])
        theirs, ours = pool.map(lambda command: ask(command, questions), commands)
    for told in theirs:
        told.pop("unread", None)
    return list(zip(questions, theirs, ours))


def departures(answers):
    """Files that one reads and the other does not, or otherwise, and those that raise nonsense."""
    found = []
    for (kind, path), theirs, ours in answers:
        is_random = path.name in RANDOM or any((path / name).exists() for name in RANDOM)
        same = theirs == ours or ("refused" in theirs and "refused" in ours)
        # Damaged at random: a header may be refused that ITK and libtiff take somehow.
        may_be_read = kind in ("volume", "images") and DAMAGED in path.parts
        same = same or (may_be_read and "refused" in ours)
        if "raised" in ours or not (same or is_random or is_compressed(kind, path)):
            found.append((kind, str(path), theirs, ours))
    return found


def is_compressed(kind, path):
    slices = path.rglob("*") if path.is_dir() else [path]
    syntax = b"1.2.840.10008.1.2."
    packed = [syntax + b"4.", syntax + b"5\0"]
    return kind == "ct" and any(
        mark in file.read_bytes()[:600] for file in slices if file.is_file() for mark in packed
    )


def small_files():
    """Let a program write no file above 4 MB: files with holes of 2 TB would fill a disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 22, 1 << 22))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # else the signal ends it


@needs_dump
@pytest.mark.skipif(not MAKE.exists(), reason=f"{MAKE} is not built")
def test_files_of_the_librarys_tests(tmp_path):
    made_by = ["refused_volumes", "stack_file", "volume_file", "image_stack", "matrix_file"]
    made_by += ["matrix_market", "matrix_numbers", "geometry_file", "xtekct_file"]
    made_by += ["dicom", "dicom_compressed", "dicom_folder", "dicom_layout", "dicom_numbers"]
    for folder, names in ((DAMAGED, ["damaged_files"]), ("others", made_by)):
        (tmp_path / folder).mkdir()
        made = subprocess.run(
            [MAKE, "--source-file=" + ",".join(f"*test_{name}.cpp" for name in names)],
            env={**os.environ, "ISO_KEEP_FILES": str(tmp_path / folder)},
            capture_output=True,
            timeout=HANG,
            preexec_fn=small_files,
        )
        assert made.returncode == 0
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert max(path.stat().st_size for path in kept) <= 65536
    answers = both(files_support.questions(tmp_path))
    good = [kind for (kind, _), theirs, ours in answers if theirs == ours and "refused" not in ours]
    for kind in ("ct", "dose", "images", "matrix", "stack", "structures", "volume", "geometry"):
        assert good.count(kind) >= 5, kind
    assert departures(answers) == []


# What no message may have.
def test_messages_name_no_patient(tmp_path):
    for name in ("SECRET^NAME.dcm", "other.dcm"):
        (tmp_path / name).write_bytes(b"\0" * 128 + b"DICM" + b"\1" * 20)
    for read in (files.read_ct, files.read_volume):
        with pytest.raises(OSError, match="damaged") as raised:
            read(tmp_path)
        assert "SECRET" not in str(raised.value)


@pytest.fixture
def voxels(grid):
    return np.random.default_rng(5).random(grid.shape, dtype=np.float32)


@needs_dump
@pytest.mark.parametrize("name", ["v.mha", "v.nrrd", "v.nii", "v.nii.gz"])
def test_volumes_go_both_ways(tmp_path, voxels, name):
    grid = iso.Grid((13, 11, 9), (1.5, 1.0, 2.0), (-7.0, 8.25, 9.5))
    files.write_volume(tmp_path / name, np.asfortranarray(voxels), grid, unit="HU")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    found = files.read_volume(tmp_path / name)
    assert found.grid == grid
    assert found.unit == ("" if "nii" in name else "HU")
    assert np.array_equal(found.values, voxels)
    iso.counters(reset=True)
    iso.native(found.values)
    assert iso.counters()["reorders"] == 0
    assert departures(both([("volume", tmp_path / name)])) == []


@needs_dump
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_stacks_go_both_ways(tmp_path, scan, readings, dtype):
    path = tmp_path / "p.h5"
    files.write_stack(path, readings.astype(dtype), scan)
    found = files.read_stack(path)
    assert found.geometry == scan and found.unit == "1" and found.values.dtype == dtype
    assert np.array_equal(found.values, readings)
    assert departures(both([("stack", path)])) == []
    raw = bytearray(path.read_bytes())
    raw[raw.find(b"circular") if b"circular" in raw else raw.find(b'"views"') + 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(OSError, match="checksum"):
        files.read_stack(path)


@needs_dump
@pytest.mark.parametrize("name", ["m.h5", "m.mtx"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_matrices_go_both_ways(tmp_path, name, dtype):
    generator = np.random.default_rng(3)
    matrix = scipy.sparse.random_array(
        (30, 20), density=0.2, format="csr", dtype=np.float64, rng=generator
    )
    path = tmp_path / name
    files.write_matrix(path, matrix, values=dtype)
    found = files.read_matrix(path)
    wanted = matrix.data.astype(dtype)
    assert found.shape == matrix.shape and np.array_equal(found.data, wanted)
    assert found.dtype == (np.float64 if name == "m.mtx" or dtype == np.float64 else np.float32)
    assert departures(both([("matrix", path)])) == []
    with iso.DoseMatrix(found) as held:
        x = np.ones(20)
        assert np.allclose(held @ x, found @ x)


@needs_dump
def test_vectors_go_both_ways(tmp_path):
    path = tmp_path / "x.h5"
    files.write_vector(path, np.arange(5.0) / 3)
    assert np.array_equal(files.read_vector(path), np.arange(5.0) / 3)
    assert departures(both([("vector", path)])) == []


@needs_dump
def test_ct_series_go_both_ways(tmp_path):
    grid = iso.Grid((7, 6, 5), (0.9765625, 1.25, 2.5), (-250.1, 8.0, -1024.3))
    hounsfield = np.random.default_rng(6).integers(-32768, 32768, grid.shape).astype(np.float64)
    hounsfield[0, 0, :4] = 0.5, -0.5, 1.49, -1.51
    files.write_ct(tmp_path / "ct", hounsfield, grid)
    found = files.read_ct(tmp_path / "ct")
    wanted = hounsfield.copy()
    wanted[0, 0, :4] = 1, -1, 1, -2
    assert np.array_equal(found.values, wanted) and found.unread == []
    assert found.grid.size == grid.size
    assert np.allclose(found.grid.spacing, grid.spacing, rtol=1e-12)
    assert np.allclose(found.grid.origin, grid.origin, rtol=1e-12)
    assert len(list((tmp_path / "ct").iterdir())) == 5
    # Of the study of the first; equal contents are equal files.
    (tmp_path / "other").mkdir()
    files.write_ct(tmp_path / "other", hounsfield + 0.25 * (hounsfield < 32000), grid,
                   like=tmp_path / "ct")  # fmt: skip
    other = files.read_identity(next((tmp_path / "other").iterdir()))
    assert (other.study, other.frame_of_reference) == (
        found.identity.study,
        found.identity.frame_of_reference,
    )
    assert other.series != found.identity.series
    files.write_ct(tmp_path / "again", hounsfield, grid)
    for path in (tmp_path / "ct").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    assert departures(both([("ct", tmp_path / name) for name in ("ct", "other")])) == []


def test_ct_series_that_are_not_written(tmp_path, grid, voxels):
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("1")
    for folder, values, word in (
        (full, voxels, "empty"),
        (tmp_path / "a", voxels * 1e6, "32767"),
        (tmp_path / "a", voxels * np.nan, "finite"),
        (tmp_path / "no" / "a", voxels, "make that first"),
    ):
        with pytest.raises(OSError, match=word):
            files.write_ct(folder, values, grid)
    with pytest.raises(OSError, match="study"):
        files.write_ct(tmp_path / "a", voxels, grid, like=full)
    with pytest.raises(ValueError, match="shape"):
        files.write_ct(tmp_path / "a", voxels[1:], grid)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]


@needs_dump
def test_doses_go_both_ways(tmp_path):
    grid = iso.Grid((7, 6, 5), (0.9765625, 1.25, 2.5), (-250.1, 8.0, -1024.3))
    dose = np.random.default_rng(7).random(grid.shape, dtype=np.float32) * 71
    files.write_rt_dose(tmp_path / "dose.dcm", dose, grid)
    found = files.read_rt_dose(tmp_path / "dose.dcm")
    assert np.abs(found.values - dose).max() <= 71 * 2.0**-24
    assert (found.unit, found.type, found.summation) == ("Gy", "PHYSICAL", "PLAN")
    assert found.grid.size == grid.size and found.states_thickness and len(found.plans) == 1
    assert np.allclose(found.grid.spacing, grid.spacing, rtol=1e-12)
    assert np.allclose(found.grid.origin, grid.origin, rtol=1e-12)
    # Of the study of a series; equal contents are equal files, and zeros and one frame are a dose.
    files.write_ct(tmp_path / "ct", np.zeros(grid.shape), grid)
    files.write_rt_dose(tmp_path / "like.dcm", dose, grid, like=tmp_path / "ct")
    files.write_rt_dose(tmp_path / "again.dcm", dose, grid, like=tmp_path / "ct")
    series = files.read_ct(tmp_path / "ct").identity
    own = files.read_identity(tmp_path / "like.dcm")
    assert (own.study, own.frame_of_reference) == (series.study, series.frame_of_reference)
    assert (tmp_path / "like.dcm").read_bytes() == (tmp_path / "again.dcm").read_bytes()
    flat = iso.Grid((7, 6, 1), grid.spacing, grid.origin)
    files.write_rt_dose(tmp_path / "zero.dcm", np.zeros(flat.shape), flat)
    assert not files.read_rt_dose(tmp_path / "zero.dcm").values.any()
    names = ("dose", "like", "zero")
    assert departures(both([("dose", tmp_path / f"{name}.dcm") for name in names])) == []


def test_a_dose_of_a_plan(tmp_path, grid, voxels):
    pydicom = pytest.importorskip("pydicom")
    plan = pydicom.Dataset()
    plan.SOPClassUID, plan.Modality = "1.2.840.10008.5.1.4.1.1.481.5", "RTPLAN"
    plan.SOPInstanceUID, plan.StudyInstanceUID, plan.FrameOfReferenceUID = "1.2.3", "1.2.4", "1.2.5"
    plan.PatientID = "7"
    plan.file_meta = pydicom.dataset.FileMetaDataset()
    plan.file_meta.MediaStorageSOPClassUID = plan.SOPClassUID
    plan.file_meta.MediaStorageSOPInstanceUID = plan.SOPInstanceUID
    plan.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    plan.save_as(tmp_path / "plan.dcm", enforce_file_format=True)
    for how in ("plan", "like"):
        to = {how: tmp_path / "plan.dcm"}
        files.write_rt_dose(tmp_path / "dose.dcm", abs(voxels), grid, **to)
        found = files.read_rt_dose(tmp_path / "dose.dcm")
        assert found.plans == ["1.2.3"]
        assert (found.identity.study, found.identity.frame_of_reference) == ("1.2.4", "1.2.5")
    files.write_ct(tmp_path / "ct", np.zeros(grid.shape), grid)
    with pytest.raises(OSError, match="another frame of reference"):
        files.write_rt_dose(tmp_path / "no.dcm", abs(voxels), grid, like=tmp_path / "ct",
                            plan=tmp_path / "plan.dcm")  # fmt: skip


def test_doses_that_are_not_written(tmp_path, grid, voxels):
    for values, word in ((-voxels - 1, "negative"), (voxels * np.nan, "finite")):
        with pytest.raises(OSError, match=word):
            files.write_rt_dose(tmp_path / "a.dcm", values, grid)
    with pytest.raises(ValueError, match="write_rt_dose: dose of shape"):
        files.write_rt_dose(tmp_path / "a.dcm", voxels[1:], grid)
    files.write_rt_dose(tmp_path / "no_plan.dcm", abs(voxels), grid)
    with pytest.raises(OSError, match="is no RT Plan"):
        files.write_rt_dose(tmp_path / "a.dcm", abs(voxels), grid, plan=tmp_path / "no_plan.dcm")
    assert [path.name for path in tmp_path.iterdir()] == ["no_plan.dcm"]


@pytest.mark.parametrize("stored", ["uint16", "float32"])
def test_images_go_both_ways(tmp_path, readings, stored):
    views = np.floor(readings * 65535) if stored == "uint16" else readings
    files.write_images(tmp_path / "scan", views, stored=stored)
    names = sorted(path.name for path in (tmp_path / "scan").iterdir())
    assert names[0] == "view_0000.tif" and len(names) == len(views)
    found = files.read_images(tmp_path / "scan")
    assert np.array_equal(found.values, views) and found.geometry is None
    iso.counters(reset=True)
    iso.native(found.values, kind="projections")
    assert iso.counters()["reorders"] == 0
    one = files.read_images(tmp_path / "scan" / "view_0003.tif")
    assert np.array_equal(one.values, views[3:4])
    # Another program's view of the file: the first row is the top one.
    from PIL import Image

    assert np.array_equal(np.asarray(Image.open(tmp_path / "scan" / names[0])), views[0, ::-1])
    (tmp_path / "scan" / "view_0002.tif").unlink()
    with pytest.raises(OSError, match="number 2"):
        files.read_images(tmp_path / "scan")


@needs_tool
def test_the_tool_reads_images(tmp_path, scan, readings):
    files.write_images(tmp_path / "scan", readings)
    (tmp_path / "scan.json").write_text(scan.to_json())
    command = [TOOL, "--quiet", "reconstruct", "--projections", "scan", "--line-integrals"]
    command += ["--geometry", "scan.json", "--extent", "13", "11", "9", "--output", "v.mha"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    found = files.read_volume(tmp_path / "v.mha")
    assert np.array_equal(found.values, iso.fdk(scan, found.grid, readings))


def test_images_that_are_not_written_or_read(tmp_path, readings):
    for views, word in ((readings * 1e6, "65535"), (readings * np.nan, "finite")):
        with pytest.raises(OSError, match=word):
            files.write_images(tmp_path / "a", views, stored="uint16")
    with pytest.raises(ValueError, match="shape"):
        files.write_images(tmp_path / "a", readings[0])
    with pytest.raises(ValueError, match="stored"):
        files.write_images(tmp_path / "a", readings, stored="int8")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x1.tif").write_bytes(b"II*\0 no TIFF")
    with pytest.raises(OSError, match="x1.tif.*TIFF"):
        files.read_images(tmp_path / "x1.tif")
    (tmp_path / "y2.tif").write_bytes(b"")
    with pytest.raises(OSError, match="another series"):
        files.read_images(tmp_path)
    with pytest.raises(OSError, match="no such file"):
        files.read_images(tmp_path / "z.tif")


def test_what_is_not_written_leaves_what_was_there(tmp_path, grid, voxels):
    path = tmp_path / "v.mha"
    path.write_text("before")
    with pytest.raises(OSError, match="3.4e"):
        files.write_volume(path, voxels.astype(np.float64) * 1e300, grid)
    with pytest.raises(ValueError, match="shape"):
        files.write_volume(path, voxels[1:], grid)
    with pytest.raises(OSError, match="two files"):
        files.write_volume(tmp_path / "v.mhd", voxels, grid)
    with pytest.raises(OSError, match="folder is not there"):
        files.write_volume(tmp_path / "no" / "v.mha", voxels, grid)
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_package_that_is_not_there_is_named(tmp_path, monkeypatch):
    for name, read in (("SimpleITK", "v.nii"), ("pydicom", "d.dcm"), ("h5py", "p.h5")):
        (tmp_path / read).write_bytes(b"x")
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=r"isocenter\[files\]"):
            (files.read_stack if read == "p.h5" else files.read_volume)(tmp_path / read)


METHODS = {
    "sirt": (iso.sart, {}),
    "os-sart": (iso.sart, {"block": 4}),
    "mlem": (iso.mlem, {}),
    "cgls": (iso.cgls, {}),
    "lsqr": (iso.lsqr, {"damping": 0.5}),
    "tv": (iso.total_variation, {"weight": 0.01, "stop_gap": 0.0}),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_run_goes_on_from_its_checkpoint(tmp_path, scan, grid, readings, method):
    run, options = METHODS[method]
    path = tmp_path / "c.h5"
    whole = run(scan, grid, readings, iterations=5, **options)
    run(scan, grid, readings, iterations=2, checkpoint=path, **options)
    resumed = run(scan, grid, readings, iterations=5, checkpoint=path, **options)
    assert np.array_equal(resumed.volume, whole.volume)
    assert np.array_equal(resumed.history["residual"], whole.history["residual"])
    # Nothing is left to do: the file stays.
    before = path.stat().st_mtime_ns
    again = run(scan, grid, readings, iterations=5, checkpoint=path, **options)
    assert np.array_equal(again.volume, whole.volume) and path.stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="the checkpoint has made 5"):
        run(scan, grid, readings, iterations=4, checkpoint=path, **options)


def test_a_checkpoint_of_something_else_is_refused(tmp_path, scan, grid, readings):
    path = tmp_path / "c.h5"
    with iso.Cgls(scan, grid, readings, checkpoint=path) as method:
        method.step()
        method.save()
    for other, word in (
        (lambda: iso.Lsqr(scan, grid, readings, checkpoint=path), "method"),
        (lambda: iso.Cgls(scan, grid, readings * 2, checkpoint=path), "scan"),
        (lambda: iso.Cgls(scan, grid, readings, checkpoint=path, projector="siddon"), "projector"),
        (lambda: iso.Cgls(scan, grid, readings.astype(np.float64), checkpoint=path), "precision"),
    ):
        with pytest.raises(OSError, match=f"another {word}"):
            other()
    with pytest.raises(ValueError, match="checkpoint"):
        iso.Cgls(scan, grid, readings).save()
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 255
    path.write_bytes(raw)
    with pytest.raises(OSError, match="c.h5"):
        iso.Cgls(scan, grid, readings, checkpoint=path)


@needs_tool
@pytest.mark.parametrize("method", METHODS)
def test_the_tool_goes_on_from_a_checkpoint(tmp_path, scan, grid, readings, method):
    run, options = METHODS[method]
    files.write_stack(tmp_path / "p.h5", readings, scan)
    words = {"block": "--block", "damping": "--damping", "weight": "--weight"}
    words["stop_gap"] = "--stop-gap"

    def tool(iterations, checkpoint, output):
        command = [TOOL, "--quiet", "reconstruct", "--projections", "p.h5", "--method", method]
        command += ["--extent", *map(str, grid.size), "--spacing", *map(str, grid.spacing)]
        command += ["--iterations", str(iterations), "--checkpoint", checkpoint]
        command += (
            ["--output", output, "--column-sums", "blocks"]
            if method == "os-sart"
            else [
                "--output",
                output,
            ]
        )
        for key, value in options.items():
            command += [words[key], str(value)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, done.stderr

    whole = run(scan, grid, readings, iterations=4, **options)
    run(scan, grid, readings, iterations=2, checkpoint=tmp_path / "ours.h5", **options)
    tool(4, "ours.h5", "ours.mha")
    assert np.array_equal(files.read_volume(tmp_path / "ours.mha").values, whole.volume)
    tool(2, "theirs.h5", "theirs.mha")
    found = run(scan, grid, readings, iterations=4, checkpoint=tmp_path / "theirs.h5", **options)
    assert np.array_equal(found.volume, whole.volume)
    assert np.array_equal(found.history["residual"], whole.history["residual"])
