#!/usr/bin/env python3
"""Count the cases of one `meson test` run from its testlog.json.

Prints `passed failed skipped`, then one line per failed or skipped test.
Check (and this project's Python tests) close with
`NN%: Checks: N, Failures: N, Errors: N`; such a test counts as its cases, any
other as one. A test that meson calls failed counts at least one failure,
whatever it printed.
"""
import json
import re
import sys

CHECKS = re.compile(r'^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)'
                    r'(?:, Skipped: (\d+))?$', re.M)
GOOD = ('OK', 'EXPECTEDFAIL')


def count(test):
    """Return (passed, failed, skipped) of one meson test record."""
    if test['result'] == 'SKIP':
        return 0, 0, 1
    rows = [[int(n or 0) for n in row]
            for row in CHECKS.findall(test.get('stdout') or '')]
    cases = sum(row[0] for row in rows) or 1
    failed = sum(row[1] + row[2] for row in rows)
    skipped = sum(row[3] for row in rows)
    if test['result'] not in GOOD:
        failed = max(failed, 1)
    failed = min(failed, cases)
    return cases - failed - skipped, failed, skipped


def main():
    totals = [0, 0, 0]
    notes = []
    with open(sys.argv[1], encoding='utf-8') as log:
        for line in log:
            test = json.loads(line)
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


if __name__ == '__main__':
    main()
