#!/usr/bin/env python3
"""tools/lib/count_tests.py: the sums of tools/check.sh are right.

test_count.py SOURCE-ROOT
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

SCRIPT = pathlib.Path(sys.argv.pop(1)) / 'tools/lib/count_tests.py'


def counted(*tests):
    """Output lines for a log of (name, result, stdout) records."""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as log:
        for name, result, out in tests:
            print(json.dumps({'name': name, 'result': result, 'stdout': out}),
                  file=log)
        log.flush()
        return subprocess.run([sys.executable, SCRIPT, log.name], check=True,
                              capture_output=True, text=True
                              ).stdout.splitlines()


class Count(unittest.TestCase):
    def test_check_output_counts_cases(self):
        out = 'noise\n100%: Checks: 12, Failures: 0, Errors: 0\n'
        self.assertEqual(counted(('a', 'OK', out)), ['12 0 0', ''])

    def test_failed_cases_are_named(self):
        out = '80%: Checks: 10, Failures: 1, Errors: 1\n'
        self.assertEqual(counted(('a', 'FAIL', out)),
                         ['8 2 0', 'FAILED a (FAIL)'])

    def test_plain_test_counts_as_one(self):
        self.assertEqual(counted(('a', 'OK', ''))[0], '1 0 0')

    def test_timeout_is_a_failure(self):
        self.assertEqual(counted(('a', 'TIMEOUT', ''))[0], '0 1 0')

    def test_crash_after_good_cases_is_a_failure(self):
        out = '100%: Checks: 3, Failures: 0, Errors: 0\n'
        self.assertEqual(counted(('a', 'ERROR', out))[0], '2 1 0')

    def test_skip_is_no_pass_and_says_why(self):
        self.assertEqual(counted(('a', 'SKIP', 'SKIP: no device\n')),
                         ['0 0 1', 'skipped a: no device'])

    def test_skipped_cases_are_no_passes(self):
        out = 'SKIP: x: not root\n' \
              '100%: Checks: 4, Failures: 0, Errors: 0, Skipped: 1\n'
        self.assertEqual(counted(('a', 'OK', out)),
                         ['3 0 1', 'skipped a: x: not root'])

    def test_cases_of_check_that_left_are_no_passes(self):
        out = 'SKIP: no huge pages\nSKIP: no huge pages\n' \
              '100%: Checks: 4, Failures: 0, Errors: 0\nSkipped: 2\n'
        self.assertEqual(counted(('a', 'OK', out)),
                         ['2 0 2', 'skipped a: no huge pages'])

    def test_slowest_of_all_runs_come_first(self):
        with tempfile.TemporaryDirectory() as folder:
            logs = []
            for build, tests in (('main', {'a': 0.5, 'b': 30}),
                                 ('asan', {'b': 90, 'c': 2})):
                log = pathlib.Path(folder) / build / 'meson-logs/testlog.json'
                log.parent.mkdir(parents=True)
                log.write_text(''.join(
                    json.dumps({'name': name, 'result': 'OK', 'duration': took})
                    + '\n' for name, took in tests.items()), encoding='utf-8')
                logs.append(log)
            run = subprocess.run([sys.executable, SCRIPT, '--slowest', '3',
                                  *logs], check=True, capture_output=True,
                                 text=True)
        self.assertEqual(run.stdout, '  90.0 s  asan  b\n'
                         '  30.0 s  main  b\n   2.0 s  asan  c\n')

    def test_runs_are_summed(self):
        out = '100%: Checks: 5, Failures: 0, Errors: 0\n'
        self.assertEqual(counted(('a', 'OK', out), ('b', 'FAIL', ''),
                                 ('c', 'SKIP', ''))[0], '5 1 1')


if __name__ == '__main__':
    suite.main()
