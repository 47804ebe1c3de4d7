#!/usr/bin/env python3
"""Count the cases of one `meson test` run from its testlog.json.

    count_tests.py LOG                 the sums, as below
    count_tests.py --slowest N LOG...  the N longest tests of all those runs, a
                                       line each: seconds, build folder, name

The first prints `passed failed skipped`, then one line per failed or skipped test.
Check (and this project's Python tests) close with
`NN%: Checks: N, Failures: N, Errors: N`; such a test counts as its cases, any
other as one. A test that meson calls failed counts at least one failure,
whatever it printed.
"""
import json
import pathlib
import re
import sys

CHECKS = re.compile(r'^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)'
                    r'(?:, Skipped: (\d+))?$', re.M)
# tests/common/suite.h of softcuda: cases of Check that left as skipped.
LEFT = re.compile(r'^Skipped: (\d+)$', re.M)
GOOD = ('OK', 'EXPECTEDFAIL')


def count(test):
    """Return (passed, failed, skipped) of one meson test record."""
    if test['result'] == 'SKIP':
        return 0, 0, 1
    out = test.get('stdout') or ''
    rows = [[int(n or 0) for n in row] for row in CHECKS.findall(out)]
    cases = sum(row[0] for row in rows) or 1
    failed = sum(row[1] + row[2] for row in rows)
    skipped = sum(row[3] for row in rows) + sum(map(int, LEFT.findall(out)))
    if test['result'] not in GOOD:
        failed = max(failed, 1)
    failed = min(failed, cases)
    return cases - failed - skipped, failed, skipped


def tests_of(path):
    """The records of one log."""
    with open(path, encoding='utf-8') as log:
        return [json.loads(line) for line in log]


def print_sums(path):
    totals = [0, 0, 0]
    notes = []
    for test in tests_of(path):
        counts = count(test)
        totals = [a + b for a, b in zip(totals, counts)]
        out = (test.get('stdout') or '') + (test.get('stderr') or '')
        why = re.search(r'^SKIP: (.*)$', out, re.M)
        if counts[1]:
            notes.append(f"FAILED {test['name']} ({test['result']})")
        elif counts[2]:
            reason = why.group(1) if why else 'no reason given'
            notes.append(f"skipped {test['name']}: {reason}")
    print(*totals)
    print(*notes, sep='\n')


def print_slowest(most, paths):
    """The build folder is the one that meson-logs/ lies in."""
    runs = [(test.get('duration', 0), pathlib.Path(path).parents[1].name,
             test['name']) for path in paths for test in tests_of(path)]
    for seconds, build, name in sorted(runs, reverse=True)[:most]:
        print(f'{seconds:6.1f} s  {build}  {name}')


def main():
    if sys.argv[1] == '--slowest':
        print_slowest(int(sys.argv[2]), sys.argv[3:])
    else:
        print_sums(sys.argv[1])


if __name__ == '__main__':
    main()
