"""Train and test what the tables declare, several runs at a time, each with one thread.

    python -m bench.tables --list
    python -m bench.tables --data DIR --vectors DIR --out DIR --jobs 2 --render
    python -m bench.tables --data DIR --vectors DIR --out DIR --only 'rows.*.en.*'

--data is the folder with the treebanks' folders, --vectors the folder with the word vectors, and --out the folder for
the runs. You can stop or kill the command at any time; running it again resumes. A recorded run is never trained or
tested again. To run everything yourself, give another file as --results. To add seeds, list them in the row.
Requires Python 3.11 and a POSIX system. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from bench.tables import render
from bench.tables.execution import Folders, RunError
from bench.tables.plan_files import read_plan
from bench.tables.records import Results, is_done
from bench.tables.runner import check_inputs, chosen, cores, in_words, show, work_off
from easyfirst.errors import EasyFirstError


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.tables", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    render.add_arguments(parser)
    parser.add_argument("--data", type=Path, help="the folder with the treebanks")
    parser.add_argument("--vectors", type=Path, help="the folder with the word vectors")
    parser.add_argument("--out", type=Path, help="the folder for models, checkpoints and logs")
    parser.add_argument("--jobs", type=int, default=1, help="how many trainings run at a time; at most one per core")
    only = "only runs whose table.row.language.seed matches; may be repeated"
    parser.add_argument("--only", metavar="PATTERN", action="append", default=[], help=only)
    parser.add_argument("--list", action="store_true", help="list what is done, running and to do, and exit")
    parser.add_argument("--render", action="store_true", help="write the results page after every run")
    return parser


def main() -> None:
    parser = arguments()
    options = parser.parse_args()
    if not 1 <= options.jobs <= cores():
        parser.error(f"--jobs must be from 1 to the number of cores, {cores()}")
    try:
        plan = read_plan(options.files, options.treebanks)
        page, findings = render.places(options) if options.render else (None, None)
        runs, results = chosen(plan.runs(), options.only), Results(options.results)
        recorded = results.read()
        if not runs:
            reason = f"matches {' or '.join(options.only)}; --list shows all" if options.only else "is declared"
            raise RunError(f"no run {reason}")
        if options.list:
            show(runs, recorded, options.out, options.jobs)
            sys.stdout.flush()
            return
        if None in (options.data, options.out):
            raise RunError("--data and --out are required to train")
        render.check_results(options)
        if options.vectors is None and (reading := [run.name for run in runs if run.vectors]):
            raise RunError(f"--vectors is required to train {reading[0]}")
        folders = Folders(options.data, options.vectors or Path(), options.out)
        check_inputs(runs, folders, results)
        if page is not None:
            render.write(page, plan, results, findings)
    except BrokenPipeError:  # the reader of the list has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    except (EasyFirstError, OSError) as error:
        parser.exit(2, f"error: {in_words(error)}\n")

    def after_each() -> None:
        if page is not None:
            try:
                render.write(page, plan, results, findings)
            except (EasyFirstError, OSError) as error:  # the result is recorded anyway
                print(f"the page was not written: {error}", file=sys.stderr, flush=True)

    to_do = [run for run in runs if not is_done(run, recorded)]
    if not to_do:
        print(f"nothing to do: all {len(runs)} are recorded in {results.path}; to repeat them, give another --results")
    try:
        failed = work_off(to_do, folders, results, options.jobs, after_each)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
