#!/usr/bin/env python3
"""bench_access at its smallest: every pattern runs in every form, all forms of
a pattern read the same, and a step costs what it must.

test_access.py PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tests/common'))
import suite  # noqa: E402

PROGRAM = sys.argv.pop(1)
PATTERNS = ('stream', 'fresh', 'residual', 'sources', 'halo', 'file',
            'sparse-read', 'index')
BY_HAND = ('pageable', 'pinned')
MANAGED = ('managed', 'hints')
OURS = ('rolling', 'lazy', 'batch', 'async')
COUNTS = ('faults', 'up', 'down', 'bytes_up', 'bytes_down', 'calls')
REPS = 2
MIB = 1 << 20
BLOCK = 256 << 10   # also all of a grid of this size
HALO = 16 << 10     # 16 of its rows
SOURCES = 64        # cells set before each step
PAGE = 4096         # all of a small object


def run(*words, **env):
    """Status, the rows by case, and what was said on standard error."""
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith(('ADSM_', 'SOFTCUDA_'))}
    done = subprocess.run([PROGRAM, '--quick', f'--reps={REPS}', *words],
                          env={**plain, **env}, text=True, check=False,
                          capture_output=True, timeout=240)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {row['case']: row for row in rows}, done.stderr


def setUpModule():
    Case.status, Case.rows, said = run()
    # Kernels before 6.7 cannot run that engine, and it says so.
    lines = said.splitlines()
    Case.said = [line for line in lines if 'fault engine async: ' not in line]
    Case.watched = len(Case.said) == len(lines)


class Case(unittest.TestCase):
    # By form: what a step costs, of those counts that are the same in each
    # run. Transfers of a rolling object differ by how writing and sending meet.
    EXACT = {
        'stream/pageable': (0, 2, 1, 2 * MIB, MIB, 4),
        'stream/pinned': (0, 2, 1, 2 * MIB, MIB, 6),
        'stream/lazy': (3, 2, 1, 2 * MIB, MIB, 6),
        'stream/batch': (0, 3, 3, 3 * MIB, 3 * MIB, 9),
        'fresh/lazy': (3, 2, 1, 2 * MIB, MIB, 12),
        'residual/pageable': (0, 0, 1, 0, 4, 2),
        'residual/pinned': (0, 0, 1, 0, 4, 3),
        'residual/batch': (0, 3, 3, 2 * BLOCK + PAGE, 2 * BLOCK + PAGE, 8),
        'sources/pageable': (0, 64, 0, 64 * 4, 0, 65),
        'sources/batch': (0, 2, 2, 2 * BLOCK, 2 * BLOCK, None),
        'halo/pageable': (0, 2, 2, 2 * HALO, 2 * HALO, 5),
        'halo/rolling': (2, 1, 1, BLOCK, BLOCK, None),
        'halo/lazy': (2, 1, 1, BLOCK, BLOCK, None),
        'file/pageable': (0, 1, 1, MIB, MIB, 3),
        'sparse-read/pinned': (0, 0, 1, 0, MIB, 3),
        'sparse-read/lazy': (1, 0, 1, 0, MIB, 3),
        'sparse-read/batch': (0, 1, 1, MIB, MIB, 4),
        'index/pageable': (0, 1, 1, MIB, MIB // 64, 3),
        'index/lazy': (None, 1, 1, MIB, MIB // 64, 5),
    }

    def counts(self, case):
        return tuple(self.rows[case][name] for name in COUNTS)

    def test_every_form_of_every_pattern_runs_and_reads_the_same(self):
        self.assertEqual((self.status, self.said), (0, []))
        self.assertEqual(list(self.rows), [
            f'{pattern}/{form}' for pattern in PATTERNS
            for form in (*BY_HAND, *MANAGED, *OURS)])

    def test_rows_have_times_beside_the_better_way_by_hand(self):
        for pattern in PATTERNS:
            best = min(self.rows[f'{pattern}/{form}']['median']
                       for form in BY_HAND)
            for form in (*BY_HAND, *MANAGED, *OURS):
                row = self.rows[f'{pattern}/{form}']
                self.assertEqual((row['bench'], row['unit'], row['reps'],
                                  row['against']),
                                 ('access', 'ms', REPS, 'by-hand'))
                self.assertGreater(row['steps'], 0)
                self.assertLessEqual(0, row['min'])
                self.assertLessEqual(row['min'], row['median'])
                self.assertLessEqual(row['median'], row['max'])
                # A line has four digits of a median.
                self.assertAlmostEqual(row['ratio'] / (row['median'] / best),
                                       1, delta=0.01)

    def test_steps_cost_what_they_must(self):
        for case, want in self.EXACT.items():
            got = self.counts(case)
            known = tuple(value if wanted is not None else None
                          for value, wanted in zip(got, want))
            self.assertEqual(known, want, f'{case}: {got}')

    def test_sources_in_one_block_open_it_sooner_or_later(self):
        # How many stores go alone before that is learnt, and differs by when
        # fetches end; what a step costs is the difference of two runs.
        for form in ('rolling', 'lazy', 'async'):
            row = self.rows[f'sources/{form}']
            self.assertEqual([row[name] for name in ('up', 'down',
                                                     'bytes_down')],
                             [1, 1, BLOCK], form)
            self.assertLess(abs(row['bytes_up'] - BLOCK), SOURCES * 4, form)
            self.assertLess(row['faults'], SOURCES / 4, form)

    def test_of_a_file_that_is_the_same_again_less_may_be_sent(self):
        for form in ('rolling', 'lazy'):
            row = self.rows[f'file/{form}']
            self.assertEqual((row['down'], row['bytes_down']), (1, MIB), form)
            self.assertLessEqual(1, row['up'], form)
            self.assertLessEqual(row['up'], 1.5, form)
            self.assertLessEqual(MIB / 2, row['bytes_up'], form)
            self.assertLessEqual(row['bytes_up'], MIB, form)

    def test_residual_brings_one_block_a_step(self):
        for form in ('rolling', 'lazy', 'async'):
            row = self.rows[f'residual/{form}']
            self.assertEqual([row[name] for name in COUNTS[1:]],
                             [0, 1, 0, PAGE, 3], form)
            # Those behind the first come before they are asked for.
            self.assertLessEqual(row['faults'], 1 / row['steps'], form)

    def test_rolling_moves_hardly_a_byte_twice(self):
        for form in ('rolling', 'async'):
            for pattern, up, down in (('stream', 2 * MIB, MIB),
                                      ('fresh', 2 * MIB, MIB),
                                      ('sparse-read', 0, MIB),
                                      ('index', MIB, MIB // 64)):
                row = self.rows[f'{pattern}/{form}']
                self.assertEqual(row['bytes_down'], down, row)
                # A block that was sent while it was written is sent again.
                self.assertLessEqual(up, row['bytes_up'], row)
                self.assertLessEqual(row['bytes_up'], 1.125 * up, row)

    def test_watched_pages_alone_are_sent(self):
        if not self.watched:
            self.skipTest('no engine async here')
        row = self.rows['halo/async']
        self.assertLessEqual(2 * HALO, row['bytes_up'])
        self.assertLess(row['bytes_up'], BLOCK / 2)

    def test_of_managed_memory_only_calls_are_known(self):
        for pattern in PATTERNS:
            for form in MANAGED:
                *unknown, calls = self.counts(f'{pattern}/{form}')
                self.assertEqual(unknown, [None] * 5)
                self.assertGreater(calls, 0)

    def test_a_form_that_fails_is_told_and_the_others_reported(self):
        status, rows, said = run('--pattern=file', PRELOAD='/proc/none.so')
        self.assertEqual(status, 1)
        self.assertEqual(list(rows), [f'file/{form}'
                                      for form in (*BY_HAND, *MANAGED)])
        for form in OURS:
            self.assertIn(f'file/{form}: the child failed', said)

    def test_table_is_for_people(self):
        done = subprocess.run([PROGRAM, '--quick', '--reps=1', '--table',
                               '--pattern=residual'], text=True, timeout=60,
                              capture_output=True, check=True)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 9)
        self.assertRegex(lines[1], r'^residual/pageable +ms .* by-hand +'
                         r'0 faults +0 up +1 down +0 bytes_up +4 bytes_down')
        self.assertRegex(lines[3], r'^residual/managed .* - faults +- up')

    def test_unknown_pattern_is_refused(self):
        done = subprocess.run([PROGRAM, '--pattern=none'], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('there is no pattern none', done.stderr)


if __name__ == '__main__':
    suite.main()
