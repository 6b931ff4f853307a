# SPDX-License-Identifier: BSD-3-Clause
"""The part of an installed RTK that the comparison needs, for a machine without a network.

    pack_rtk.py SITE_PACKAGES TARGET

SITE_PACKAGES holds itk and itk-rtk (or itk-rtk-cuda124 with itk-cudacommon-cuda124); TARGET becomes
a folder for PYTHONPATH. An installation of ITK takes 1.6 GB; what projection and backprojection
need of it, 300 MB, under 30 MB once compressed with xz: five extension modules instead of fifty.
FDK on a processor needs ITK's Fourier transforms as well, which are not packed.
"""
import importlib.util
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import words_of  # noqa: E402

# What the programs name, and what importing it pulls in is followed from there.
_ROOTS = {
    "RTK": (
        "rtkThreeDCircularProjectionGeometryPython",
        "rtkJosephForwardProjectionImageFilterPython",
        "rtkJosephBackProjectionImageFilterPython",
        "rtkFDKBackProjectionImageFilterPython",
        "rtkCudaForwardProjectionImageFilterPython",
        "rtkCudaBackProjectionImageFilterPython",
        "rtkCudaFDKConeBeamReconstructionFilterPython",
    ),
    "CudaCommon": ("CudaCommonPython", "itkCudaImageFromImage"),
    "ITKCommon": ("ITKCommonPython",),
    "ITKPyBase": ("ITKPyBasePython",),
    "ITKBridgeNumPy": ("ITKBridgeNumPyPython",),
}
_IMPORT = re.compile(r"\s*(?:from|import) itk\.(\w+)", re.MULTILINE)
_FIRST_USE = "\nswig = {}\n"


def closure(itk, names):
    found, ahead = set(), [n for n in names if (itk / f"{n}.py").exists()]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            text = (itk / f"{name}.py").read_text(encoding="utf-8")
            ahead += [n for n in _IMPORT.findall(text) if (itk / f"{n}.py").exists()]
    return found


def configuration(itk, module):
    path = itk / "Configuration" / f"{module}Config.py"
    spec = importlib.util.spec_from_file_location(module, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def write_rtk(itk, target, found):
    """RTK's entry module and its list of classes, cut down to the modules that were found."""
    names = [n for n in sorted(found) if n.startswith(("rtk", "itk")) and n.endswith("Python")]
    texts = {n: (itk / f"{n}.py").read_text(encoding="utf-8") for n in names}
    entry = (itk / "RTKPython.py").read_text(encoding="utf-8")
    head = entry[: entry.index(_FIRST_USE) + len(_FIRST_USE)]
    mine = [n for n in names if f"from itk.{n} import" in entry]
    lines = "".join(f"from itk.{n} import *\n" for n in mine)
    cuda = "import itk.CudaCommonPython\n" if (itk / "CudaCommonPython.py").exists() else ""
    base = "import itk.ITKCommonPython\nimport itk.ITKBridgeNumPyPython\n"
    (target / "RTKPython.py").write_text(head + base + cuda + lines, encoding="utf-8")

    everything = "".join(texts[n] for n in mine)
    whole = configuration(itk, "RTK")
    kept = tuple(t for t in whole.templates if f"class {t[2]}(" in everything)
    depends = tuple(d for d in whole.depends if d in _ROOTS)
    (target / "Configuration" / "RTKConfig.py").write_text(
        f"depends = {depends!r}\ntemplates = {kept!r}\n", encoding="utf-8"
    )


def main(source, target):
    source, target = pathlib.Path(source), pathlib.Path(target)
    itk, to = source / "itk", target / "itk"
    (to / "Configuration").mkdir(parents=True)
    found = set()
    for module, roots in _ROOTS.items():
        if not (itk / f"_{module}Python.abi3.so").exists():
            continue
        found |= closure(itk, roots)
        shutil.copy(itk / f"_{module}Python.abi3.so", to)
        if module != "RTK":
            shutil.copy(itk / "Configuration" / f"{module}Config.py", to / "Configuration")
            snake = itk / "Configuration" / f"{module}_snake_case.py"
            if snake.exists():
                shutil.copy(snake, to / "Configuration")
    for name in found:
        shutil.copy(itk / f"{name}.py", to)
    write_rtk(itk, to, found)
    for extra in ("__init__.py", "__init_cudacommon__.py"):
        if (itk / extra).exists():
            shutil.copy(itk / extra, to)
    shutil.copytree(itk / "support", to / "support", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "itkConfig.py", target)
    for pattern in ("itk_core.libs", "itk_rtk*.libs", "itk_cudacommon*.libs", "itk_rtk*.dist-info"):
        for folder in source.glob(pattern):
            shutil.copytree(folder, target / folder.name)


if __name__ == "__main__":
    main(*words_of(__doc__, least=2, most=2))
