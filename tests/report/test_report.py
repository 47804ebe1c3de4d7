#!/usr/bin/env python3
"""The transfer report: each thing that can be mended is named with its line, and
nothing else is; programs that are hard to report on; the files.

test_report.py BUILD-ROOT PROGRAMS
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
PROGRAMS = pathlib.Path(sys.argv[2]).resolve()
del sys.argv[1:]
RUN = BUILD / 'tools/adsm-run'
SOFTCUDA = BUILD / 'tools/softcuda'
MIB = 1 << 20
# What is planted -> its function in planted.c, where that has another name.
PLANTED = ['duplicate', 'duplicate_down', 'round_trip', 'round_trip_elsewhere',
           'overwritten', 'freed_unread', 'download_unread', 'pageable_async',
           'needless_sync', 'needless_twice', 'repeated_alloc', 'unused_alloc', 'early_alloc',
           'late_free', 'leak', 'dead_write', 'dead_kernel']
CLEAN = ['clean', 'async', 'polled', 'restored', 'overtaken',
         'refused']


def execute(words, **extra):
    return subprocess.run([str(word) for word in words], text=True,
                          env={**suite.plain_environment(), **extra},
                          stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, timeout=120)


def bare(*words):
    """The program without libadsm."""
    return execute(words, LD_LIBRARY_PATH=str(SOFTCUDA))


def markers(source):
    """Function of planted.c -> the kind that is planted there, and its line."""
    found, function = {}, None
    for number, text in enumerate(source.read_text().splitlines(), 1):
        name = re.match(r'(?:static void|int) (\w+)\(', text)
        mark = re.search(r'/\* PLANTED (\w+) \*/', text)
        function = name.group(1) if name else function
        if mark:
            found[function] = (mark.group(1), number)
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def report(self, program, *words, status=0, **extra):
        """The run, and what the file says, which is one line."""
        path = self.folder / 'report.json'
        path.unlink(missing_ok=True)
        run = execute([RUN, '--soft', f'--report={path}', program, *words],
                      **extra)
        self.assertEqual(run.returncode, status, run)
        if not path.exists():
            return run, None
        text = path.read_text()
        self.assertEqual(text.count('\n'), 1, text)
        return run, json.loads(text)

    def found(self, said):
        return [(f['kind'], pathlib.Path(f.get('file', '-')).name,
                 f.get('line')) for f in said['findings']]


class Planted(Case):
    def check(self, name, kind, line):
        program = PROGRAMS / 'report_planted'
        run, said = self.report(program, name)
        self.assertEqual(self.found(said), [(kind, 'planted.c', line)], run)
        self.assertIn(f'planted.c:{line}: ', run.stderr)
        self.assertEqual(run.stdout, bare(program, name).stdout)
        mended, said = self.report(program, name, 'mended')
        self.assertEqual(self.found(said), [], mended)
        self.assertIn('nothing to mend', mended.stderr)

    def test_each_kind_is_named_at_its_line_and_nothing_else(self):
        marks = markers(HERE / 'planted.c')
        self.assertEqual(sorted(marks), sorted(PLANTED))
        for name in PLANTED:
            with self.subTest(name=name):
                self.check(name, *marks[name])

    def test_programs_with_nothing_to_mend_have_empty_reports(self):
        for name in CLEAN:
            run, said = self.report(PROGRAMS / 'report_planted', name)
            self.assertEqual(self.found(said), [], run)

    def test_a_copy_down_that_the_program_ends_before_is_unread(self):
        line = next(number for number, text in enumerate(
            (HERE / 'planted.c').read_text().splitlines(), 1)
                    if '/* UNWAITED */' in text)
        run, said = self.report(PROGRAMS / 'report_planted', 'unwaited')
        self.assertIn(('download_unread', 'planted.c', line),
                      self.found(said), run)

    def test_bytes_are_those_that_the_device_saw(self):
        for name in PLANTED + CLEAN:
            run, said = self.report(PROGRAMS / 'report_planted', name,
                                    SOFTCUDA_STATS='1')
            saw = re.search(r'\((\d+) up, (\d+) down\)', run.stderr)
            self.assertEqual(
                [said['total'][way]['bytes'] for way in ('up', 'down')],
                [int(saw.group(1)), int(saw.group(2))], name)

    def test_a_copy_has_no_time_of_the_kernels_it_waits_for(self):
        """These take 1,000 ms: 2^20 threads."""
        _, said = self.report(PROGRAMS / 'report_planted', 'clean',
                              SOFTCUDA_PACE='1M/s')
        self.assertGreater(said['ms'], 1000)
        self.assertLess(said['total']['down']['ms'], 500)

    def test_sums_of_sites_and_memory_are_the_totals(self):
        _, said = self.report(PROGRAMS / 'report_planted', 'duplicate')
        self.assertEqual(said['total']['up']['bytes'], 8 * 4 * MIB)
        for way in said['total']:
            self.assertEqual(
                sum(site['bytes'] for site in said['sites']
                    if site['what'] == way), said['total'][way]['bytes'])
        self.assertEqual(sum(memory['up'] for memory in said['memory']),
                         8 * 4 * MIB)
        found = said['findings'][0]
        self.assertEqual((found['count'], found['bytes']), (7, 7 * 4 * MIB))
        self.assertAlmostEqual(found['saves_percent'],
                               100 * found['saves_ms'] / said['ms'], places=2)

    def test_kernels_that_are_not_known_have_nothing_said_of_copies(self):
        """Without PTX a kernel may have written what is sent again."""
        for how in ('graph', 'wild'):
            run, said = self.report(PROGRAMS / 'report_planted', 'duplicate',
                                    how)
            self.assertNotIn('duplicate', [f['kind'] for f in said['findings']],
                             run)


class Lines(Case):
    def test_the_runtime_s_frames_are_not_the_program_s(self):
        line = markers(HERE / 'runtime.c')['main'][1]
        program = PROGRAMS / 'report_runtime'
        run, said = self.report(program)
        self.assertEqual(self.found(said), [('duplicate', 'runtime.c', line)],
                         run)
        self.assertEqual(run.stdout, bare(program).stdout)

    def test_a_line_that_makes_all_copies_has_its_caller_named(self):
        lines = (HERE / 'planted.c').read_text().splitlines()
        line, caller = (next(number for number, text in enumerate(lines, 1)
                             if f'/* {mark} */' in text)
                        for mark in ('SENDS', 'SENDS AGAIN'))
        run, said = self.report(PROGRAMS / 'report_planted', 'wrapped')
        self.assertEqual(self.found(said), [('duplicate', 'planted.c', line)],
                         run)
        self.assertEqual([one['line'] for one in
                          said['findings'][0]['callers']], [caller])
        self.assertIn(f'planted.c:{line} from planted.c:{caller}: ',
                      run.stderr)

    def stripped(self, *how):
        program = self.folder / 'stripped'
        subprocess.run(['strip', *how, '-o', program,
                        PROGRAMS / 'report_planted'], check=True)
        return self.report(program, 'duplicate')

    def test_without_debug_information_it_is_a_function(self):
        run, said = self.stripped('--strip-debug')
        self.assertEqual(len(said['findings']), 1, run)
        found = said['findings'][0]
        self.assertEqual((found['kind'], found['function']),
                         ('duplicate', 'duplicate'))
        self.assertNotIn('line', found)
        self.assertIn('duplicate (stripped+0x', run.stderr)

    def test_without_names_it_is_a_place_in_a_file(self):
        run, said = self.stripped('--strip-all')
        self.assertEqual(len(said['findings']), 1, run)
        found = said['findings'][0]
        self.assertEqual(pathlib.Path(found['module']).name, 'stripped')
        self.assertIn(f'stripped+0x{found["offset"]:x}:', run.stderr)

    def test_without_addr2line_it_is_a_place_in_a_file(self):
        run, said = self.report(PROGRAMS / 'report_planted', 'duplicate',
                                PATH=str(self.folder))
        self.assertEqual(len(said['findings']), 1, run)
        self.assertIn('report_planted+0x', run.stderr)


class Hard(Case):
    def hard(self, way, **extra):
        return self.report(PROGRAMS / 'report_hard', way, **extra)

    def test_threads_at_once(self):
        run, said = self.hard('threads')
        found = {f['kind']: f['count'] for f in said['findings']}
        self.assertEqual(found, {'duplicate': 8 * 999}, run)
        self.assertEqual(said['total']['up']['count'], 8 * 1000)

    def test_a_thread_ends_the_process(self):
        for _ in range(5):
            _, said = self.hard('leaver')
            self.assertEqual(said['lost'], 0)

    def test_a_hundred_thousand_copies(self):
        run, said = self.hard('many')
        self.assertEqual(said['findings'], [], run)
        self.assertEqual(said['total']['up']['count'] +
                         said['total']['down']['count'], 100000)

    def test_more_parts_than_are_kept(self):
        run, said = self.hard('parts')
        self.assertEqual(said['findings'], [], run)
        self.assertEqual(said['total']['up']['count'], 20000)

    def test_memory_that_is_never_freed(self):
        _, said = self.hard('never')
        found = {f['kind']: f['count'] for f in said['findings']}
        self.assertEqual(found, {'leak': 2000, 'dead_write': 2000})

    def test_more_call_sites_than_are_kept(self):
        _, said = self.hard('places')
        self.assertEqual(said['total']['up']['count'], 16 * 16 * 24)
        self.assertEqual(sum(site['count'] for site in said['sites']
                             if site['what'] == 'up'), 16 * 16 * 24)

    def test_a_child_of_fork_writes_none(self):
        run, said = self.hard('fork')
        self.assertEqual(said['total']['up']['count'], 2 * 1000, run)

    def test_a_signal_ends_it_without_a_report(self):
        run, said = self.hard('signal', status=-signal.SIGTERM)
        self.assertIsNone(said)
        self.assertNotIn('libadsm', run.stderr)

    def test_exit_without_handlers_ends_it_without_a_report(self):
        _, said = self.hard('quick')
        self.assertIsNone(said)

    def test_its_own_child_is_not_the_program_s(self):
        run, said = self.hard('children')
        self.assertEqual(run.stdout, 'done\n')
        self.assertEqual(said['findings'][0]['function'], 'copy_same')


class Files(Case):
    def test_a_full_disk_is_said(self):
        run = execute([RUN, '--soft', '--report=/dev/full',
                       PROGRAMS / 'report_planted', 'clean'])
        self.assertEqual(run.returncode, 0)
        self.assertIn('cannot write the report to /dev/full: No space left',
                      run.stderr)

    def test_a_folder_that_is_not_there_is_said(self):
        path = self.folder / 'none/report.json'
        run = execute([RUN, '--soft', f'--report={path}',
                       PROGRAMS / 'report_planted', 'clean'])
        self.assertEqual(run.returncode, 0)
        self.assertIn(f'cannot write the report to {path}: No such file',
                      run.stderr)

    def test_standard_error_that_nobody_reads_costs_no_signal(self):
        words = [str(RUN), '--soft', '--report',
                 str(PROGRAMS / 'report_planted'), 'duplicate']
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(words, env=suite.plain_environment(),
                              stdin=subprocess.DEVNULL, stderr=writer,
                              stdout=subprocess.DEVNULL, check=False,
                              timeout=120)
        os.close(writer)
        self.assertEqual(done.returncode, 0)

    def test_programs_append_a_line_each(self):
        path = self.folder / 'report.json'
        for name in ('clean', 'leak'):
            execute([RUN, '--soft', '--set', f'ADSM_REPORT_FILE={path}',
                     PROGRAMS / 'report_planted', name])
        said = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual([len(one['findings']) for one in said], [0, 1])

    def test_without_the_option_nothing_is_said(self):
        run = execute([RUN, '--soft', PROGRAMS / 'report_planted', 'leak'])
        self.assertEqual((run.returncode, run.stderr), (0, ''))


if __name__ == '__main__':
    suite.main()
