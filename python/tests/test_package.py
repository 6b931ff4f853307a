# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: its tag, size, what it needs and exports; what was compiled for it; its types."""

import inspect
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import numpy as np
import pytest

import isocenter
from conftest import HANG, TOP, run_python
from isocenter import _generate

PACKAGE = pathlib.Path(isocenter.__file__).parent
#: The folder of the module that is loaded: that of the plug-in, where there is a GPU.
LOADED = pathlib.Path(isocenter._core.__file__).parent


def test_the_wheel_is_what_is_tested():
    wheel()
    assert not PACKAGE.is_relative_to(TOP / "python")


def wheel():
    if "ISO_WHEEL" not in os.environ:
        pytest.skip("ISO_WHEEL names no wheel")
    return pathlib.Path(os.environ["ISO_WHEEL"])


@pytest.fixture(params=["isocenter", "isocenter_cu13"])
def package(request):
    """The folder of a package that has an extension module: the plug-in too, where it is there."""
    folder = PACKAGE.with_name(request.param)
    if not list(folder.glob("_core*.so")):
        pytest.skip(f"no module of {request.param} is installed here")
    return folder


def module(package=PACKAGE):
    (found,) = package.glob("_core*.so")
    return found


def said_by(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_tag_and_size():
    file = wheel()
    assert re.fullmatch(
        r"isocenter-\d+\.\d+\.\d+-(cp311-cp311|cp312-abi3)-manylinux_2_34_x86_64\.whl", file.name
    )
    assert file.stat().st_size < 6_000_000
    names = zipfile.ZipFile(file).namelist()
    assert sum(name.startswith("isocenter/_core") and name.endswith(".so") for name in names) == 1
    for name in ("py.typed", "_core.pyi", "LICENSE", "NOTICE", "libgomp.so.1"):
        assert f"isocenter/{name}" in names


def test_what_it_needs(package):
    """No driver and no runtime of CUDA: the module is loaded where there are none."""
    needed = set(re.findall(r"NEEDED +(\S+)", said_by("objdump", "-p", str(module(package)))))
    # Those beside the module, and those that manylinux lets a wheel expect.
    own = {path.name for path in package.glob("lib*")}
    allowed = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
    assert needed <= own | allowed, needed
    assert "libgomp.so.1" in needed
    assert "$ORIGIN" in said_by("objdump", "-p", str(module(package)))


def test_the_plug_in():
    if "ISO_CUDA_WHEEL" not in os.environ:
        pytest.skip("ISO_CUDA_WHEEL names no wheel of the plug-in")
    file = pathlib.Path(os.environ["ISO_CUDA_WHEEL"])
    assert re.fullmatch(
        r"isocenter_cu13-[\d.]+-(cp311-cp311|cp312-abi3)-manylinux_2_34_x86_64\.whl", file.name
    )
    names = zipfile.ZipFile(file).namelist()
    assert sum(name.startswith("isocenter_cu13/_core") and name.endswith(".so") for name in names)
    for name in ("LICENSE", "NOTICE", "libgomp.so.1"):
        assert f"isocenter_cu13/{name}" in names
    # It is taken where a GPU is counted, and only there.
    code = "from isocenter import _core; print(_core.has_cuda)"
    out, _ = run_python(code, env={"CUDA_VISIBLE_DEVICES": ""})
    assert out == "False\n"


def test_gpus_are_counted_without_the_driver(tmp_path):
    """By the management library, so that children which are forked later have a GPU."""
    source = tmp_path / "management.c"
    source.write_text(
        "int nvmlInit_v2(void) { return 0; }\n"
        "int nvmlDeviceGetCount_v2(unsigned *n) { *n = 4; return 0; }\n"
        # The last one is another's.
        "int nvmlDeviceGetHandleByIndex_v2(unsigned n, void **handle) { return n < 3 ? 0 : 4; }\n"
    )
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = str(tmp_path / "libnvidia-ml.so.1")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, str(source)], check=True)
    code = """
        from isocenter import _load
        print(_load._count_gpus())
        print(any("/libcuda.so" in line for line in open("/proc/self/maps")))
    """
    for chosen, count in (("0,2", 2), ("1,3,0", 1), ("", 0), ("-1", 0), ("GPU-12ab,1", 2)):
        there = {"LD_LIBRARY_PATH": str(tmp_path), "CUDA_VISIBLE_DEVICES": chosen}
        out, _ = run_python(code, env=there)
        assert out.split() == [str(count), "False"], chosen


def test_versions_of_symbols():
    # The newest of manylinux_2_34, https://github.com/pypa/auditwheel: those of RHEL 9.
    newest = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
    for file in (module(), *PACKAGE.glob("lib*")):
        text = said_by("objdump", "-T", str(file))
        for name, number in re.findall(r"\*UND\*.*\((GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)\)", text):
            version = tuple(map(int, number.split(".")))
            assert version <= newest[name], (file.name, name, number)


def test_exports(package):
    text = said_by("nm", "-D", "--defined-only", str(module(package)))
    # Small letters are local.
    exports = [line.split()[-2:] for line in text.splitlines()]
    assert [name for kind, name in exports if not kind.islower()] == ["PyInit__core"]


def test_no_source_of_the_library_is_compiled():
    if "ISO_WHEEL" not in os.environ:
        pytest.skip("ISO_WHEEL names no wheel")
    logs = list((TOP / "build" / "python").glob("openmp-cp*/.ninja_log"))
    assert logs
    for log in logs:
        names = (line.split("\t")[3:4] for line in log.read_text().splitlines())
        objects = {name for found in names for name in found if name.endswith(".o")}
        assert objects
        for name in objects:
            assert name.startswith(("CMakeFiles/_core.dir/src/", "CMakeFiles/nanobind")), name


STAND_IN = """
def build_wheel(*arguments):
    print("compiled")
    return "a wheel"
build_editable = build_wheel
"""


def told_by_the_backend(tmp_path, settings, env=None):
    """What reaches the terminal of a frontend that hides all that its backend prints."""
    (tmp_path / "scikit_build_core").mkdir(exist_ok=True)
    (tmp_path / "scikit_build_core" / "build.py").write_text(STAND_IN)
    code = f"""if True:
        import fcntl, os, subprocess, sys, termios
        os.setsid()
        fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0)
        built = "import isocenter_build as b; print(b.build_wheel('.', {settings!r}))"
        done = subprocess.run([sys.executable, "-c", built], capture_output=True, text=True)
        sys.exit(done.stderr or done.stdout.split() != ["compiled", "a", "wheel"])
    """
    master, slave = pty.openpty()
    found = {**os.environ, **(env or {})}
    found["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(TOP / "python" / "backend")])
    command = [sys.executable, "-c", code, str(slave)]
    subprocess.run(command, check=True, env=found, pass_fds=[slave], timeout=HANG)
    os.write(slave, b"end")
    os.close(slave)
    told = b""
    while not told.endswith(b"end"):
        told += os.read(master, 4096)
    os.close(master)
    return told.decode().removesuffix("end").strip()


def test_a_build_of_the_library_says_so(tmp_path):
    told = told_by_the_backend(tmp_path, None)
    assert "half an hour" in told and "Ctrl-C" in told and len(told.splitlines()) == 1
    for given in ({"cmake.define.Isocenter_ROOT": "/usr"}, {"cmake.args": "-DIsocenter_DIR=/usr"}):
        assert told_by_the_backend(tmp_path, given) == ""
    there = {"CMAKE_ARGS": "-DIsocenter_ROOT=/usr"}
    assert told_by_the_backend(tmp_path, {}, there) == ""
    # The wheel is built by it.
    chosen = tomllib.loads((TOP / "python" / "pyproject.toml").read_text())["build-system"]
    assert chosen["build-backend"] == "isocenter_build" and chosen["backend-path"] == ["backend"]


def test_a_build_names_all_that_is_missing(tmp_path):
    tag = "cp%d%d" % sys.version_info[:2]
    tools = TOP / "build" / "python" / f"tools-{tag}" / "bin" / "python"
    if not tools.exists():
        pytest.skip("scripts/wheel.sh has made no environment of build tools")
    nanobind = said_by(str(tools), "-m", "nanobind", "--cmake_dir").strip()
    command = ["cmake", "-S", str(TOP / "python"), "-B", str(tmp_path)]
    command += [f"-Dnanobind_DIR={nanobind}"]
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "Boost", "valijson")]
    done = subprocess.run([*command, *hidden], capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    assert done.returncode != 0
    assert "for want of fmt 9, Boost 1.70, valijson (CMake finds none of the version); run" in said


def runtimes_with(first, second):
    """Return the files of OpenMP's runtime in a process that has loaded both and computed."""
    out, _ = run_python(
        f"""
        import ctypes, numpy as np
        {first}
        {second}
        import isocenter
        scan = isocenter.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0])
        isocenter.project(scan, isocenter.Grid((8, 8, 8)), np.ones((8, 8, 8), np.float32))
        files = set(line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line)
        print(*files)
        """
    )
    return [pathlib.Path(name) for name in out.split()]


@pytest.fixture
def other_name(tmp_path):
    """A copy of the runtime under another name, as the wheel of scikit-learn has one."""
    text = (LOADED / "libgomp.so.1").read_bytes()
    assert text.count(b"libgomp.so.1\0") >= 1
    file = tmp_path / "libgomp-0000.so.1.0.0"
    file.write_bytes(text.replace(b"libgomp.so.1\0", b"libgomq.so.1\0"))
    return file


def test_one_libgomp_in_any_order(tmp_path, other_name):
    # As PyTorch's: the same name in another folder.
    file = tmp_path / "libgomp.so.1"
    file.write_bytes((LOADED / "libgomp.so.1").read_bytes())
    other, ours = f"ctypes.CDLL('{file}')", "import isocenter"
    assert runtimes_with(other, ours) == [file]
    assert runtimes_with(ours, "ctypes.CDLL('libgomp.so.1')") == [LOADED / "libgomp.so.1"]
    # What docs/python.md says of a copy under another name.
    other = f"ctypes.CDLL('{other_name}')"
    for order in ((other, ours), (ours, other)):
        assert set(runtimes_with(*order)) == {other_name, LOADED / "libgomp.so.1"}


def test_with_scikit_learn():
    pytest.importorskip("sklearn.cluster")
    for order in (
        ("import isocenter", "import sklearn.cluster"),
        ("import sklearn.cluster", "import isocenter"),
    ):
        names = [file.name for file in runtimes_with(*order)]
        assert names.count("libgomp.so.1") + names.count("libgomp.so.1.0.0") == 1, names


def test_in_an_empty_environment(tmp_path):
    """The wheel, by pip with what it depends on, and nothing else."""
    file = wheel()
    env = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(env)], check=True, timeout=HANG)
    python = str(env / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "install", "--quiet", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = json.loads(said_by(*pip, "list", "--format", "json"))
    names = {entry["name"].lower() for entry in listed}
    assert names - {"pip", "setuptools", "wheel"} == {"isocenter", "numpy"}
    code = """if True:
        import isocenter as iso, numpy as np, sys
        scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0])
        print(iso.project(scan, iso.Grid((8, 8, 8)), np.ones((8, 8, 8), np.float32)).shape)
        try:
            iso.files.read_volume("none.mha")
        except ImportError as error:
            print("isocenter[files]" in str(error))
    """
    out = subprocess.run([python, "-P", "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.split("\n") == ["(1, 8, 8)", "True", ""] and out.stderr == ""
    # What docs/python.md begins with.
    command = [python, "-P", "-m", "isocenter", "head.png"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "76 of 76 results have the same bits" in done.stdout and "head.png" in done.stdout
    image = pytest.importorskip("PIL.Image").open(tmp_path / "head.png")
    values = np.asarray(image)
    assert values.shape == (128, 384) and values.dtype == np.uint8
    # Dark around the head, its skull white, the brain grey.
    assert (values[:, 0] == 0).all() and (values[64] == 255).any()
    assert 30 < np.median(values[44:84, 44:84]) < 120


def test_spinning_beside_a_runtime_of_another_name(other_name, tmp_path):
    same = tmp_path / "libgomp.so.1"
    same.write_bytes((PACKAGE / "libgomp.so.1").read_bytes())
    for file, spins in ((other_name, 1), (same, 0)):
        _, said = run_python(
            f"""
            import ctypes, os
            os.environ.pop("OMP_WAIT_POLICY", None)
            ctypes.CDLL("{file}")
            before = dict(os.environ)
            import isocenter
            assert dict(os.environ) == before
            """,
            env={"OMP_DISPLAY_ENV": "verbose"},
        )
        assert said.count("GOMP_SPINCOUNT = '1000'") == spins, said


def test_help_of_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "isocenter", "--help"], capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0 and "usage: python -m isocenter" in done.stdout
    assert "picture" in done.stdout and "verify" not in done.stdout


def test_info_says_why_no_gpu_is_used(tmp_path):
    code = "import isocenter; print(isocenter.info()['gpu'])"
    out, _ = run_python(code, env={"CUDA_VISIBLE_DEVICES": ""})
    assert "isocenter-cu13" in out
    # The plug-in without a GPU: it is not loaded, and the calls of the host go on.
    plug_in = tmp_path / "isocenter_cu13"
    plug_in.mkdir()
    (plug_in / "__init__.py").write_text("")
    (plug_in / "_core.py").write_text("raise ImportError('not built')")
    there = {"PYTHONPATH": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    out, _ = run_python(code, env=there)
    assert "counts no GPU" in out
    out, _ = run_python(code, env={**there, "ISOCENTER_MODULE": "host"})
    assert "ISOCENTER_MODULE is host" in out


def test_options_are_those_that_the_library_describes():
    assert (PACKAGE / "_options.py").read_text() == _generate.text(), (
        "python -m isocenter._generate writes it anew"
    )


def test_types(tmp_path):
    pytest.importorskip("mypy")
    python = TOP / "python"
    mypy = [sys.executable, "-m", "mypy", f"--config-file={python / 'pyproject.toml'}"]
    for what in (["-p", "isocenter"], [str(python / "tests" / "typed.py")]):
        command = [*mypy, f"--cache-dir={tmp_path / 'cache'}", *what]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_types_by_pyright(tmp_path):
    pytest.importorskip("pyright")
    chosen = {
        "include": [str(TOP / "python" / "isocenter"), str(TOP / "python" / "tests" / "typed.py")],
        # The extension module and tqdm have no source here.
        "reportMissingModuleSource": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(chosen))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_has_documentation():
    undocumented = []
    for name in isocenter.__all__:
        thing = getattr(isocenter, name)
        if not callable(thing) or not getattr(thing, "__module__", "").startswith("isocenter"):
            continue
        members = [(name, thing)]
        if isinstance(thing, type):
            members += [
                (f"{name}.{key}", value)
                for key, value in vars(thing).items()
                if not key.startswith("_") and (callable(value) or isinstance(value, property))
            ]
        undocumented += [where for where, value in members if not (value.__doc__ or "").strip()]
    assert not undocumented


def functions_of(module):
    """Public functions of a module, and methods of its classes, with their names."""
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            yield f"{module.__name__}.{name}", thing
        own = module.__name__, *(["isocenter._"] if module is isocenter else [])
        if inspect.isclass(thing) and thing.__module__.startswith(own):
            for key, value in vars(thing).items():
                method = getattr(value, "__func__", value)
                if inspect.isfunction(method) and (key == "__call__" or not key.startswith("_")):
                    yield f"{module.__name__}.{name}.{key}", method


MODULES = [isocenter, *(getattr(isocenter, name) for name in ("dose", "files", "readings"))]
MODULES += [isocenter.rays, isocenter.phantom, isocenter.mpi, isocenter.plot]


@pytest.mark.parametrize("module", MODULES)
def test_documentation_of_modules(module):
    """Each function names its parameters, and says what it returns."""
    found = list(functions_of(module))
    assert len(found) >= 2
    missing = []
    for where, function in found:
        text, signature = function.__doc__ or "", inspect.signature(function)
        parameters = [
            rf"({n}|options)" if p.kind == p.VAR_KEYWORD else n
            for n, p in signature.parameters.items()
            if n not in ("self", "cls")
        ]
        head, _, listed = text.partition("Parameters\n")
        # Methods of the package's own classes may say all in sentences.
        in_sentences = module is isocenter and where.count(".") == 2
        if in_sentences and not listed:
            listed = text
        if not head.strip() or (parameters and not listed):
            missing.append(where)
        missing += [f"{where}: {n}" for n in parameters if not re.search(rf"\b{n}\b", listed)]
        returns = signature.return_annotation not in ("None", None, inspect.Signature.empty)
        said = "Returns\n" in text or (in_sentences and text.startswith("Return "))
        if returns and not said:
            missing.append(f"{where}: what it returns")
    assert missing == []


#: What computes no numbers.
NO_NUMBERS = r"isocenter\.(counters|info|set_threads|use|unit_of|(files|plot)\.\w+)"
COMPUTING = ["Cgls", "Dvh", "DoseMatrix", "Fdk", "Lsqr", "Mlem", "Projector", "Sart", "Structure"]
COMPUTING += ["TotalVariation", "dose.Beam", "dose.Calculator", "mpi.Calculator", "mpi.DoseMatrix"]


def test_documentation_tells_determinism():
    found = {}
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            where = f"{module.__name__}.{name}"
            if inspect.isfunction(thing) and not re.fullmatch(NO_NUMBERS, where):
                found[where] = thing
    assert len(found) > 35
    for name in COMPUTING:
        thing = isocenter
        for part in name.split("."):
            thing = getattr(thing, part)
        found[name] = thing
    silent = [name for name, thing in found.items() if "Determinism: " not in (thing.__doc__ or "")]
    assert silent == []
