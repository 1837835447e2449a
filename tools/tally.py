#!/usr/bin/env python3
"""Sums the test results of a folder and prints them; the last line is "N passed, N failed".

Usage: tally.py FOLDER   Reads *.xml (JUnit: ctest, pytest), *.tap (node --test) and *.failed (a suite that ended badly).
Exit:  0 when something passed and nothing failed, else 1. A suite that ended badly without a failed test counts as one.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree


def read_junit(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    suites = [root] if root.tag == "testsuite" else root.findall("testsuite")
    total, failed, skipped = 0, 0, 0
    for suite in suites:
        total += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
    return total - failed - skipped, failed, skipped


def read_tap(path):
    told = dict(re.findall(r"^# (pass|fail|cancelled|skipped) (\d+)$", path.read_text(), re.M))
    return int(told.get("pass", 0)), int(told.get("fail", 0)) + int(told.get("cancelled", 0)), int(told.get("skipped", 0))


def read_suite(folder, name):
    passed = failed = skipped = 0
    for suffix, read in ((".xml", read_junit), (".tap", read_tap)):
        path = folder / (name + suffix)
        if path.exists():
            counts = read(path)
            passed, failed, skipped = (a + b for a, b in zip((passed, failed, skipped), counts))
    if (folder / (name + ".failed")).exists() and not failed:
        failed = 1
    return passed, failed, skipped


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sorted({p.stem for p in folder.iterdir() if p.suffix in (".xml", ".tap", ".failed")})
    sums = [0, 0, 0]
    for name in names:
        counts = read_suite(folder, name)
        sums = [a + b for a, b in zip(sums, counts)]
        print(f"  {name:<16} {counts[0]:>5} passed {counts[1]:>4} failed {counts[2]:>4} skipped")
    print(f"{sums[0]} passed, {sums[1]} failed")
    sys.exit(0 if sums[0] and not sums[1] else 1)


if __name__ == "__main__":
    main()
