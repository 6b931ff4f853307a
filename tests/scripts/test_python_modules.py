#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts in a Python without further modules: `SCRIPT --help` prints the help, or says in one
sentence what to install; where scripts/setup.sh has made its environment, the script goes on in it.

Usage: test_python_modules.py TOP
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BARE = [sys.executable, "-S", "-B"]  # -S: the modules that come with Python alone
failures = 0


def fail(what):
    global failures
    failures += 1
    print(f"FAILED: {what}")


def programs(top):
    return [path for folder in ("scripts", "perf") for path in sorted((top / folder).rglob("*.py"))
            if '\nif __name__ == "__main__":\n' in path.read_text(encoding="utf-8")]


def run(command):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800,
                          stdin=subprocess.DEVNULL, env=environment)


def without_setup(copy):
    """Help or one sentence."""
    sentences = 0
    for path in programs(copy):
        done = run([*BARE, path, "--help"])
        said = done.stderr.strip()
        if done.returncode == 0 and done.stdout.strip() and not said:
            continue
        sentences += 1
        if done.returncode != 2 or said.count("\n") or "install" not in said or done.stdout:
            fail(f"{path.relative_to(copy)} --help: status {done.returncode}: "
                 f"{done.stdout}{done.stderr}")
    if not sentences:
        fail("no script lacks a module: this Python is not bare")


def in_the_environment(copy):
    """The arguments reach the environment's Python as they were, options of Python included."""
    python = copy / ".deps/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    script = copy / "scripts/readme_picture.py"
    done = run([*BARE, script, "a b"])
    if done.stdout != f"<-S><-B><{script}><a b>":
        fail(f"not started anew: {done.stdout}{done.stderr}")
    # Python 3.9 does not know with which options it was started.
    old = ("import runpy, sys; del sys.orig_argv; sys.argv[:1] = []; sys.path.insert(0, "
           "sys.argv[0].rpartition('/')[0]); runpy.run_path(sys.argv[0], run_name='__main__')")
    done = run([*BARE, "-c", old, script, "a b"])
    if done.stdout != f"<{script}><a b>":
        fail(f"not started anew by Python 3.9: {done.stdout}{done.stderr}")


def with_setup(top):
    """Each script of scripts/ has what it needs in .deps/venv, or names the packages."""
    for path in programs(top):
        done = run([sys.executable, "-B", path, "--help"])
        if "Traceback" in done.stderr or done.returncode not in (0, 2):
            fail(f"{path.relative_to(top)} --help: status {done.returncode}: {done.stderr}")


def main(top):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder).resolve()
        for name in ("scripts", "perf"):
            shutil.copytree(top / name, copy / name)
        without_setup(copy)
        in_the_environment(copy)
    with_setup(top)
    print(f"{failures} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
