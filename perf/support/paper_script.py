# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share that repeat a paper's tables: their common arguments and their end."""
import argparse
import pathlib
import sys


def parser_of(document):
    """With what all of them take; `document` is the help."""
    parser = argparse.ArgumentParser(description=document,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--backend", default="serial")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    return parser


def status_of(script, shortfalls):
    """Prints what the paper finds and the run does not show; 1 where there is any."""
    for sentence in shortfalls:
        print(f"{script}: {sentence}", file=sys.stderr)
    return 1 if shortfalls else 0
