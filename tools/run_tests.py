#!/usr/bin/env python3
"""Runs ctest in one or more build folders and adds up the cases of all programs.

    tools/run_tests.py [--jobs N] FOLDER[:LABELS[!LABELS]] ...

LABELS are ctest labels separated by `|`: tests that have one of the first and none of the second are run.
A program that closes as cmocka or Python's unittest does, or with such a last line itself, counts with its cases; any other as one.  A program that fails without a failed case (a crash, a
sanitizer's report, a time-out) counts as one failed case more.  The last line is `N passed, N failed, N skipped`; the exit
status is 0 only if something passed and nothing failed.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

COUNT = {word: re.compile(r"\[ +%s +\] +(\d+) test\(s\)" % word) for word in ("PASSED", "FAILED", "SKIPPED")}
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
UNITTEST = re.compile(r"^Ran (\d+) tests? in [\d.]+s$", re.MULTILINE)
UNITTEST_REST = re.compile(r"\b(failures|errors|skipped)=(\d+)")


def cases(output):
    """(passed, failed, skipped) as a program's output gives them, or None."""
    plain = PLAIN.findall(output)
    if plain:
        return tuple(int(n) for n in plain[-1])
    ran = UNITTEST.search(output)
    if ran:
        rest = {word: int(n) for word, n in UNITTEST_REST.findall(output[ran.end():])}
        failed = rest.get("failures", 0) + rest.get("errors", 0)
        return int(ran.group(1)) - failed - rest.get("skipped", 0), failed, rest.get("skipped", 0)
    if "[==========]" not in output:
        return None
    return tuple(sum(int(n) for n in COUNT[word].findall(output)) for word in ("PASSED", "FAILED", "SKIPPED"))


def judge(test):
    """(passed, failed, skipped, output) of one <testcase>."""
    output = test.findtext("system-out") or ""
    status = test.get("status")
    counts = cases(output)
    if status == "run":
        return (counts or (1, 0, 0)) + (output,)
    if test.find("skipped") is not None and status != "fail":
        if "SKIP_" in (test.find("skipped").get("message") or ""):
            return 0, 0, 1, output
        return 0, 1, 0, output + (test.find("skipped").get("message") or "could not be run")
    passed, failed, skipped = counts or (0, 0, 0)
    return passed, max(failed, 1), skipped, output


def run(folder, labels, without, jobs):
    """Totals of one build folder; prints a line a failed test and its output."""
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.xml")
        command = ["ctest", "--test-dir", folder, "--no-tests=ignore", "--output-junit", report, "-j", str(jobs),
                   "--test-output-size-passed", "4000000", "--test-output-size-failed", "4000000"]
        if labels:
            command += ["-L", "^(%s)$" % labels]
        if without:
            command += ["-LE", "^(%s)$" % without]
        supp = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lsan.supp")
        environment = dict(os.environ)
        environment.setdefault("LSAN_OPTIONS", "print_suppressions=0:suppressions=" + supp)
        ran = subprocess.run(command, check=False, env=environment)
        if not os.path.exists(report):
            print("%s: ctest made no report (exit status %d)" % (folder, ran.returncode))
            return 0, 1, 0
        tests = ElementTree.parse(report).getroot().findall("testcase")
    total = [0, 0, 0]
    for test in tests:
        passed, failed, skipped, output = judge(test)
        for i, n in enumerate((passed, failed, skipped)):
            total[i] += n
        for line in output.splitlines():
            if line.startswith("skipped"):
                print("%s: %s" % (test.get("name"), line))
        if failed:
            print("---- %s failed (%s)\n%s" % (test.get("name"), folder, output[-20000:]))
    if ran.returncode != 0 and total[1] == 0:
        print("%s: ctest failed with exit status %d" % (folder, ran.returncode))
        total[1] = 1
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("folders", nargs="+", metavar="FOLDER[:LABELS[!LABELS]]")
    arguments = parser.parse_args()
    total = [0, 0, 0]
    for place in arguments.folders:
        folder, _, labels = place.partition(":")
        labels, _, without = labels.partition("!")
        for i, n in enumerate(run(folder, labels, without, arguments.jobs)):
            total[i] += n
    print("%d passed, %d failed, %d skipped" % tuple(total), flush=True)
    return 0 if total[0] > 0 and total[1] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
