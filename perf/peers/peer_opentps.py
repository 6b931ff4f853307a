# SPDX-License-Identifier: BSD-3-Clause
"""One field by the collapsed-cone engine that lies inside the Python package opentps.

The engine is a program of its own. It gets its input as files, as the package's Python writes them:
lengths in cm, the isocentre at the origin, the first axis of the density fastest. It is run
unchanged, on one thread. Only this module knows its formats.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import time

import numpy as np

_PHOTONS = pathlib.Path("opentps/core/processing/doseCalculation/photons")
_KERNELS = "Kernels_6MV"
_SPECTRUM = ("energies", "fluence", "mu", "mu_en")


class engine:
    """The program of the package below `site` (a folder of Python packages), or its sources built
    anew with `flags`; in `folder`, which gets its files."""

    def __init__(self, site, folder, flags=None):
        photons = pathlib.Path(site) / _PHOTONS
        self._folder = pathlib.Path(folder)
        self._program = self._folder / "CCC_DoseEngine"
        if flags is None:
            shutil.copyfile(photons / "CCC_DoseEngine" / "CCC_DoseEngine", self._program)
        else:
            sources = sorted(map(str, (photons / "CCC_DoseEngine").glob("*.cpp")))
            subprocess.run(
                ["g++", "-w", *flags.split(), *sources, "-o", str(self._program)], check=True
            )
        # The package carries it without the right to run it.
        self._program.chmod(0o755)
        # Paths of more than 199 characters overrun the program's buffers: names without folders.
        lines = []
        for file in sorted((photons / _KERNELS).iterdir()):
            shutil.copyfile(file, self._folder / file.name)
            lines += [file.stem if file.suffix == ".txt" else f"kernel_{file.stem}", file.name]
        (self._folder / "kernels.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def spectrum(self):
        """[energies, 4]: MeV, relative fluence, mass attenuation and absorption in cm2/g."""
        columns = [np.fromfile(self._folder / f"{n}.bin", np.float32) for n in _SPECTRUM]
        return np.stack(columns, axis=1)

    def run(self, density, voxel, surface, field):
        """Dose [x, y, z] of `density` [x, y, z] in voxels of `voxel` mm, with seconds on the wall
        and of the processor. The beam travels along y from 1000 mm before the isocentre, which lies
        `surface` mm behind the first face, in the middle of x and z. `field` mm: the square's side.
        """
        nx, ny, nz = density.shape
        density.astype(np.float32).tofile(self._folder / "density.bin")
        start = [-0.5 * (nz - 1) * voxel, 0.5 * voxel - surface, -0.5 * (nx - 1) * voxel]
        # Their first axis is our z, their third our x: the same order in memory.
        (self._folder / "header.txt").write_text(
            f"Xcount Ycount Zcount\n{nz} {ny} {nx}\n"
            "Xstart Ystart Zstart\n" + " ".join(f"{0.1 * s:.6f}" for s in start) + "\n"
            "dx dy dz\n" + " ".join([f"{0.1 * voxel:.6f}"] * 3) + "\n",
            encoding="utf-8",
        )
        (self._folder / "geometry.txt").write_text(
            "geometry_header\nheader.txt\ngeometry_density\ndensity.bin\n", encoding="utf-8"
        )
        side = 0.1 * field
        (self._folder / "beams.txt").write_text(
            "beamnum:\n1\n\nnum\n0\n"
            f"SAD xp yp del_xp del_yp\n100.0 0.0 0.0 {side:.6f} {side:.6f}\n"
            "y_vec\n0.0 -100.0 0.0\nip\n0.0 0.0 1.0\njp\n1.0 0.0 0.0\nkp\n0.0 1.0 0.0\n\n",
            encoding="utf-8",
        )
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        # Its exit status is 1 when all went well.
        done = subprocess.run(
            [str(self._program), "kernels.txt", "geometry.txt", "beams.txt", "dose.bin"],
            cwd=self._folder, capture_output=True, text=True, check=False,
            env=dict(os.environ, OMP_NUM_THREADS="1"),
        )  # fmt: skip
        wall = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if "Successfully calculated" not in done.stdout:
            raise RuntimeError(f"opentps: status {done.returncode}, said {done.stdout.strip()}")
        return self._dose(density.shape), wall, busy

    def _dose(self, shape):
        """The sparse doses of the one beam in the file."""
        words = np.fromfile(self._folder / "dose.bin", np.int32)
        count = int(words[5])
        if [int(n) for n in words[[4, 3, 2]]] != list(shape) or words.size != 6 + 2 * count:
            raise RuntimeError(f"opentps: a dose of {words[2:6].tolist()} (expected {shape})")
        dose = np.zeros(int(np.prod(shape)), np.float32)
        dose[words[6 : 6 + count]] = words[6 + count :].view(np.float32)
        return dose.reshape(shape)
