# SPDX-License-Identifier: BSD-3-Clause
"""Do iterative methods of peers make the same iterates as Isocenter's? The differences of the
iterates beside those of the operators, which explain them.

    iterations.py --iso build/openmp/apps/iso/iso [--device cpu] [--peers rtk,astra] [--size 64]
                  [--views 60] [--json iterations.json --machine WHAT]

Every program begins at 0 with the same readings: RTK, and ASTRA with --device cuda, with closed
forms of scan.py's Gaussians in its cone beam. ASTRA on a processor knows slices alone: there it is
a parallel beam of Isocenter's projections of the middle slice and noise. Columns:

- apart: relative l2 difference of the iterates after so many iterations, in all voxels and in those
  at least three from the volume's faces, where programs end a volume differently;
- ours: the same for Isocenter's iterates in float and in double. Conjugate gradients lose their
  orthogonality to rounding and fall behind themselves;
- projection: the relative l2 difference of the projections of the phantom, which is next to 0 at
  the volume's faces, and of a volume of ones, which is not and shows how programs end a volume;
  RTK's conjugate gradients also run with two layers of voxels at the faces held at 0;
- adjoint: the relative l2 difference of A' b from Isocenter's A^T b, A' being what the peer's
  iteration takes for the transpose and b the readings, without the voxels at the faces;
- mismatch: the largest |<A x, y> - <x, A' y>| / <A x, y> of five pairs of random numbers from 0 to
  1; "local" the same for pairs that are
  0 but in an eighth of the volume and a quarter of the detector, since it may average out.

RTK's SART takes views in an order of the C++ library's shuffle. With all of them in one subset no
order is left: that is SIRT, but with the length of the ray in the volume in place of A 1.
"""
import importlib.metadata
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import (  # noqa: E402
    markdown, output_of, parser_of, record, recorded_options)
from python_modules import np  # noqa: E402
import scan  # noqa: E402
from reconstructions import circular_cone, tool  # noqa: E402
from volumes import read_mha, write_mha  # noqa: E402

COUNTS = (1, 5, 20)


class isocenter:
    """The tool; arrays are [x, y, z] and [view, u, v]."""

    def __init__(self, given, folder, geometry, shape, voxel=1.0):
        self._tool, self._shape, self._voxel = tool(given.iso, folder), shape, voxel
        self._folder, self._geometry = folder, self._tool.write_json(geometry)

    def project(self, volume, **options):
        write_mha(self._folder / "x.mha", volume, self._voxel, "1/mm")
        self._tool.run("project", geometry=self._geometry, volume=self._folder / "x.mha",
                       output=self._folder / "p.mha", **options)
        return read_mha(self._folder / "p.mha")[0].transpose(2, 0, 1)

    def volume(self, command, stack, **options):
        # Images as seen from the source: u to the right, v upwards.
        stack.transpose(0, 2, 1)[:, ::-1].astype("<f4").tofile(self._folder / "scan.raw")
        return self._tool.volume(
            command, "--line-integrals", projections=self._folder / "scan.raw", raw_type="float32",
            geometry=self._geometry, extent=self._shape, spacing=self._voxel, **options)[0]

    def back_project(self, stack, _=""):
        return self.volume("back-project", stack)

    def iterate(self, method, masked, stack, count, **options):
        if masked:
            options["mask"] = self._folder / "mask.mha"
            write_mha(options["mask"], without_faces(self._shape), self._voxel, "1")
        return self.volume("reconstruct", stack, method=method, iterations=count, **options)


class by_rtk:
    """RTK's filters for a processor, arrays as ours."""

    version = property(lambda self: importlib.metadata.version("itk-rtk"))

    def __init__(self, s, threads):
        import itk
        import peer_rtk

        self._itk, self._peer, self._s = itk, peer_rtk, s
        self._geometry = peer_rtk.geometry_of(s)
        itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(threads)
        self.methods = [("CG", "cgls", "joseph"), ("CG, faces 0", "cgls", "joseph"),
                        ("CG, faces 0", "cgls", "voxelbased"),
                        ("SART, one subset", "sirt", "joseph"),
                        ("SART, one subset", "sirt", "voxelbased")]

    def _run(self, work, volume, stack):
        """The work's output, on the volume given or, first, on the stack."""
        voxels = [self._s.voxel] * 3
        images = (np.ascontiguousarray(volume.transpose(0, 2, 1), np.float32), voxels), (
            np.ascontiguousarray(stack.transpose(0, 2, 1), np.float32),
            [self._s.pitch, self._s.pitch, 1.0])
        first = 1 if "Forward" in type(work).__name__ else 0
        work.SetGeometry(self._geometry)
        for n in (0, 1):
            work.SetInput(n, self._peer.image_of(*images[n ^ first]))
        work.Update()
        return self._itk.array_from_image(work.GetOutput()).transpose(0, 2, 1)

    def _filter(self, name, pair=True):
        kind = self._itk.Image[self._itk.F, 3]
        of = getattr(self._itk.RTK, name)
        return of[(kind, kind)] if pair else of[kind]

    def project(self, volume):
        return self._run(self._filter("JosephForwardProjectionImageFilter").New(), volume,
                         np.zeros((self._s.views, *self._s.pixels)))

    def back_project(self, stack, pair):
        name = "Joseph" if pair == "joseph" else ""
        return self._run(self._filter(name + "BackProjectionImageFilter").New(),
                         np.zeros(self._s.extent), stack)

    def iterate(self, method, pair, stack, count, block=None):
        """After so many iterations; `block` views a subset of SART, all where it is None."""
        gradients = method.startswith("CG")
        name = "ConjugateGradient" if gradients else "SART"
        of = self._filter(name + "ConeBeamReconstructionFilter", pair=not gradients)
        work = of.New()
        work.SetForwardProjectionFilter(of.ForwardProjectionType_FP_JOSEPH)
        work.SetBackProjectionFilter(getattr(of, f"BackProjectionType_BP_{pair.upper()}"))
        work.SetNumberOfIterations(count)
        work.SetDisableDisplacedDetectorFilter(True)
        if method.endswith("0"):
            mask = np.ascontiguousarray(without_faces(self._s.extent).transpose(0, 2, 1))
            work.SetSupportMask(self._peer.image_of(mask, [self._s.voxel] * 3))
        if not gradients:
            work.SetLambda(1.0)
            work.SetNumberOfProjectionsPerSubset(block or self._s.views)
        return self._run(work, np.zeros(self._s.extent), stack)


class by_astra:
    """ASTRA: the cone beam on a GPU, a slice in a parallel beam on a processor."""

    version = property(lambda self: self._astra.__version__)

    def __init__(self, s, cuda):
        import astra

        self._astra, self._cuda, n = astra, cuda, s.size
        if cuda:
            import peer_astra

            scanned, voxels = peer_astra.geometries(s)
            projector, self._data = astra.create_projector("cuda3d", scanned, voxels), astra.data3d
        else:
            # Their rays at an angle run as ours a quarter turn later.
            scanned = astra.create_proj_geom("parallel", 1.0, n, np.pi / 2 + half_turn(s))
            voxels = astra.create_vol_geom(n, n)
            projector, self._data = astra.create_projector("linear", scanned, voxels), astra.data2d
        self._projector, deep = projector, n if cuda else 1
        self._kinds = {"-vol": (voxels, (n, n, deep)), "-sino": (scanned, (s.views, n, deep))}
        where, pair = ("3D_CUDA", "cuda3d") if cuda else ("", "linear")
        self.methods = [("CGLS" + where, "cgls", pair), ("SIRT" + where, "sirt", pair)]

    def _theirs(self, kind, array):
        if self._cuda:
            return array.transpose((2, 1, 0) if kind == "-vol" else (2, 0, 1))
        return array[:, ::-1, 0].T if kind == "-vol" else array[:, :, 0]  # their rows fall in y

    def _ours(self, kind, array):
        if self._cuda:
            return array.transpose((2, 1, 0) if kind == "-vol" else (1, 2, 0))
        return array[::-1].T[:, :, None] if kind == "-vol" else array[:, :, None]

    def _run(self, name, count, given, takes, makes):
        """What an algorithm makes of an array, each a kind of data and their name for it."""
        task = self._astra.astra_dict(name + "3D_CUDA" if self._cuda and len(name) == 2 else name)
        task["ProjectorId"] = self._projector
        for kind, key, array in ((*takes, given), (*makes, np.zeros(self._kinds[makes[0]][1]))):
            stored = np.ascontiguousarray(self._theirs(kind, array), np.float32)
            task[key] = self._data.create(kind, self._kinds[kind][0], stored)
        work = self._astra.algorithm.create(task)
        self._astra.algorithm.run(work, count)
        found = np.array(self._ours(makes[0], self._data.get(task[makes[1]])))
        self._astra.algorithm.delete(work)
        self._data.delete([task[takes[1]], task[makes[1]]])
        return found

    def project(self, volume):
        return self._run("FP", 1, volume, ("-vol", "VolumeDataId"), ("-sino", "ProjectionDataId"))

    def back_project(self, stack, _):
        return self.iterate("BP", _, stack, 1)

    def iterate(self, method, _, stack, count):
        return self._run(method, count, stack, ("-sino", "ProjectionDataId"),
                         ("-vol", "ReconstructionDataId"))


def without_faces(shape):
    """1, and 0 in the two outermost layers of voxels."""
    return np.pad(np.ones([n - 4 for n in shape], np.float32), 2)


def half_turn(s):
    return np.pi * np.arange(s.views) / s.views


def cone(s):
    """(geometry, line integrals, phantom) of scan.py."""
    geometry = circular_cone(s.source_axis, s.source_detector, s.pixels, s.pitch, s.views)
    stack = np.stack([scan.line_integrals(s, view) for view in range(s.views)])
    with tempfile.TemporaryDirectory() as folder:
        scan.write_phantom(s, pathlib.Path(folder) / "phantom")
        phantom = np.fromfile(pathlib.Path(folder) / "phantom", np.float32)
    return geometry, stack, phantom.reshape((s.size,) * 3)


def slice_of(s, iso_at):
    """The same of a parallel beam through the middle slice; the projections are Isocenter's."""
    geometry = {"type": "circular_parallel",
                "detector": {"pixels": [s.size, 1], "pitch_mm": [1, 1]},
                "angles_deg": {"range": 180, "count": s.views}}
    middle = np.ascontiguousarray(cone(s)[2][:, :, s.size // 2, None])
    iso = iso_at(geometry, middle.shape)
    # Readings that no volume has: an iteration that stops at an exact solution would tell little.
    noise = np.random.default_rng(2).normal(0, 0.01, (s.views, s.size, 1))
    return iso, iso.project(middle) + noise, middle


def apart(ours, theirs, border=0):
    inner = tuple(slice(border, n - border) if n > 2 * border else slice(None) for n in ours.shape)
    ours, theirs = np.float64(ours[inner]), np.float64(theirs[inner])
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(ours))


def mismatch(peer, pair, volume_shape, stack_shape, local):
    """The largest of five, relative."""
    random = np.random.default_rng(1)
    worst = 0.0
    for _ in range(5):
        x, y = random.random(volume_shape), random.random(stack_shape)
        if local:
            for array, axes in ((x, (0, 1, 2)), (y, (1, 2))):
                keep = np.zeros(array.shape, bool)
                cut = [slice(None)] * 3
                for axis in axes:
                    n = array.shape[axis]
                    first = int(random.integers(n // 2 + 1)) if n > 1 else 0
                    cut[axis] = slice(first, first + max(n // 2, 1))
                keep[tuple(cut)] = True
                array *= keep
        x, y = np.float32(x), np.float32(y)
        one = float(np.vdot(np.float64(peer.project(x)), y))
        other = float(np.vdot(np.float64(x), peer.back_project(y, pair)))
        worst = max(worst, abs(one - other) / one)
    return worst


def compare(iso, peer, name, stack, phantom):
    off = [apart(iso.project(x), peer.project(x)) for x in (phantom, np.ones_like(phantom))]
    back = iso.back_project(stack)
    own = [mismatch(iso, "", phantom.shape, stack.shape, local) for local in (False, True)]
    for method, ours, pair in peer.methods:
        masked = method.endswith("0")
        row = {"peer": name, "version": peer.version, "method": method, "ours": ours,
               "back_projector": pair, "projection": off, "iterates": [], "mismatch_of_ours": own,
               "back_projection": apart(back, peer.back_project(stack, pair), border=3),
               "mismatch": mismatch(peer, pair, phantom.shape, stack.shape, False),
               "mismatch_local": mismatch(peer, pair, phantom.shape, stack.shape, True)}
        for count in COUNTS:
            mine = iso.iterate(ours, masked, stack, count)
            theirs = peer.iterate(method, pair, stack, count)
            twice = apart(iso.iterate(ours, masked, stack, count, precision="double"), mine)
            row["iterates"].append({"count": count, "apart": apart(mine, theirs), "own": twice,
                                    "apart_inside": apart(mine, theirs, border=3)})
        yield row


def table(rows):
    head = ["peer", "method", "backprojector", "projection: phantom", "ones", "adjoint",
            "mismatch", "local",
            *(f"{what} {n}" for n in COUNTS for what in ("apart after", "inside", "ours"))]
    lines = []
    for row in rows:
        numbers = [*row["projection"],
                   *(row[key] for key in ("back_projection", "mismatch", "mismatch_local"))]
        for one in row["iterates"]:
            numbers += [one["apart"], one["apart_inside"], one["own"]]
        names = [row[key] for key in ("peer", "method", "back_projector")]
        lines.append(names + [f"{x:.0e}" for x in numbers])
    return markdown(head, lines)


def main():
    a = parser_of(__doc__)
    a.add_argument("--iso", required=True)
    a.add_argument("--peers", default="rtk,astra")
    a.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="of ASTRA")
    a.add_argument("--size", type=int, default=64)
    a.add_argument("--views", type=int, default=60)
    a.add_argument("--threads", type=int, default=1)
    given = recorded_options(a)
    s = scan.scan(given.size, given.views)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        def iso_at(geometry, shape):
            return isocenter(given, pathlib.Path(folder), geometry, shape)

        for name in given.peers.split(","):
            if name == "astra" and given.device == "cpu":
                iso, stack, phantom = slice_of(s, iso_at)
            else:
                geometry, stack, phantom = cone(s)
                iso = iso_at(geometry, phantom.shape)
            cuda = given.device == "cuda"
            peer = by_rtk(s, given.threads) if name == "rtk" else by_astra(s, cuda)
            rows += compare(iso, peer, name, stack, phantom)
    print(table(rows))
    for name, row in {row["peer"]: row for row in rows}.items():
        print("Isocenter's own mismatch in the scan beside {}: {:.0e}, local {:.0e}".format(
            name, *row["mismatch_of_ours"]))
    record(given, isocenter=output_of([given.iso, "--version"]).strip(),
           command=f"perf/peers/iterations.py --peers {given.peers} --device {given.device} "
           f"--size {s.size} --views {s.views}",
           topic="iterations", size=s.size, views=s.views, rows=rows)


if __name__ == "__main__":
    main()
