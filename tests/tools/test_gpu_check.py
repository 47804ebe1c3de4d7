#!/usr/bin/env python3
"""tools/gpu-check.sh: packed, carried to an empty folder, run on the software
device and on drivers that differ from it in one thing.

test_gpu_check.py BUILD-ROOT
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tests/common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CHECK = 'tools/gpu-check.sh'
PLANTED = {'LD_LIBRARY_PATH': str(BUILD / 'tests/drivers'),
           'PLANTED_DRIVER': str(BUILD / 'tools/softcuda/libcuda.so.1')}
PLAIN = {name: value for name, value in os.environ.items()
         if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_', 'PLANTED'))}


class Report:
    """One run of the script in the folder that was unpacked."""

    def __init__(self, folder, *words, **env):
        self.out = pathlib.Path(tempfile.mkdtemp(dir=folder))
        run = subprocess.run([folder / CHECK, '--out', self.out, *words],
                             env={**PLAIN, **env}, cwd=self.out, text=True,
                             capture_output=True, check=False, timeout=900)
        self.status, self.said = run.returncode, run.stdout + run.stderr
        lines = self.out / 'results.jsonl'
        rows = [json.loads(line) for line in
                lines.read_text().splitlines()] if lines.exists() else []
        self.items = {row['item']: row for row in rows if 'item' in row}
        self.rows = rows
        page = self.out / 'hardware.md'
        self.page = page.read_text() if page.exists() else ''

    def packed(self, name):
        """A file of the archive that the script leaves."""
        with tarfile.open(f'{self.out}.tar.gz') as archive:
            return archive.extractfile(f'{self.out.name}/{name}').read()

    def outcomes(self, outcome):
        return sorted(name for name, row in self.items.items()
                      if row['outcome'] == outcome)

    def failed(self):
        return sorted(name for name, row in self.items.items()
                      if row['outcome'] not in ('passed', 'skipped'))


def setUpModule():
    """Packed and unpacked once, for all cases."""
    Case.folder = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, Case.folder)
    archive = Case.folder / 'check.tar.gz'
    subprocess.run([ROOT / CHECK, '--build', BUILD, '--pack', archive],
                   check=True, capture_output=True, env=PLAIN)
    Case.bytes = archive.stat().st_size
    Case.unpacked = Case.folder / 'elsewhere'
    Case.unpacked.mkdir()
    subprocess.run(['tar', 'xzf', archive, '-C', Case.unpacked], check=True)


class Case(unittest.TestCase):
    def run_check(self, *words, **env):
        return Report(self.unpacked, *words, **env)


class OnTheSoftwareDevice(Case):
    def test_every_step_runs_from_the_archive(self):
        report = self.run_check('--soft', '--quick', '--minutes', '0')
        self.assertEqual((report.status, report.failed()), (0, []),
                         report.said)
        for step in ('facts', 'addresses', 'preload', 'kernels', 'frameworks',
                     'speed', 'seven'):
            self.assertIn(f'\n### {step}\n', report.page)
            self.assertTrue([row for row in report.rows
                             if row.get('step') == step], step)
        self.assertGreater(len(report.outcomes('passed')), 40)
        benches = {row['bench'] for row in report.rows if 'bench' in row}
        self.assertLessEqual({'wave', 'cp', 'fault', 'launch', 'access'},
                             benches)
        patterns = [row['case'].split('/')[0] for row in report.rows
                    if row.get('bench') == 'access']
        listed = re.search(r'ACCESS = \(([^)]*)\)', (
            ROOT / 'tools/gpu-check/steps.py').read_text())[1]
        self.assertEqual({name: patterns.count(name) for name in patterns},
                         {name: 8 for name in re.findall(r"'(.*?)'", listed)})
        self.assertRegex(report.page, r'\| access \| residual/rolling \| ms '
                         r'\|.*\| by-hand \| 10 \| [\d.]* \| 0 \| 1 \|')
        self.assertIn('| wave | ported/rolling | s |', report.page)
        self.check_seven(report)
        self.assertNotIn(str(ROOT), report.page)
        self.assertEqual(report.packed('hardware.md'), report.page.encode())
        self.assertTrue(report.packed('logs/speed-bench_launch'))

    def check_seven(self, report):
        """Every benchmark, with the work's time and what that is over."""
        rows = [row for row in report.rows
                if row.get('size', '').startswith('gpu ')]
        self.assertEqual(len({row['bench'] for row in rows}), 8)
        self.assertEqual({row['case'] for row in rows}, {
            'explicit/bare', 'overlapped/bare', 'ported/rolling'})
        for row in rows:
            self.assertTrue(row['same'], row)
            self.assertIn(row['work_against'], ('explicit/bare',
                                                'overlapped/bare'))
        part = report.page[report.page.index('### seven'):]
        self.assertRegex(part, r'\| work_ratio \| work_against \|')
        self.assertRegex(part, r'\| rpes \| ported/rolling \| s \|')

    def test_archive_is_small(self):
        self.assertLess(self.bytes, 60 << 20)

    def test_archive_has_what_frameworks_import(self):
        done = subprocess.run(
            [sys.executable, '-c', 'import frameworks, adsm'], env=PLAIN,
            cwd=self.unpacked / 'tools/gpu-check', check=False)
        self.assertEqual(done.returncode, 0)


class OtherTests(Case):
    """With another list of tests than the archive has."""

    def setUp(self):
        self.tests = self.unpacked / 'tools/gpu-check/tests'
        before = self.tests.read_text()
        self.addCleanup(self.tests.write_text, before)


class Accidents(OtherTests):
    def test_failed_and_late_items_stop_nothing_and_are_told(self):
        self.tests.write_text(
            'api-rolling\tcore\t5\tsh -c exit$IFS$9\n'
            'threads-rolling\tcore\t1\tsleep 30\n'
            'twin-rolling\tcore\t5\ttrue\n')
        report = self.run_check('--soft', '--quick', 'addresses')
        self.assertEqual(report.status, 1)
        self.assertEqual(report.items['threads-rolling, window']['outcome'],
                         'over 1 s')
        self.assertEqual(report.items['twin-rolling, window']['outcome'],
                         'passed')
        part = report.page[report.page.index('### What failed'):]
        self.assertIn('**addresses, threads-rolling, window: over 1 s.**', part)
        self.assertIn('ADSM_ADDRESS=window sleep 30', part)

    def test_suites_run_as_one_process_or_case_by_case(self):
        self.tests.write_text(
            'threads-rolling\tcore\t9\tsh -c test$IFS"$CK_FORK"$IFS=$IFS"no"\n'
            'twin-rolling\tcore\t9\tsh -c echo$IFS$CK_FORK;test$IFS-z$IFS'
            '"$CK_FORK"\n')
        report = self.run_check('--soft', '--quick', 'addresses')
        self.assertEqual(report.failed(), [], report.said)
        for name, detail in (('threads', ''),
                             ('twin', 'as one process: no')):
            row = report.items[f'{name}-rolling, window']
            self.assertEqual(row['detail'], detail)

    def test_what_has_no_time_left_is_said(self):
        self.tests.write_text(''.join(
            f'driver-{i}\topcodes\t20\tsleep 2\n' for i in range(12)))
        began = time.monotonic()
        report = self.run_check('--soft', '--lanes', '2', '--minutes', '0.25',
                                'kernels')
        self.assertLess(time.monotonic() - began, 30)
        self.assertGreater(len(report.outcomes('passed')), 0)
        left = [row for row in report.items.values()
                if row['detail'] == 'no time was left for it']
        self.assertGreater(len(left), 2)
        self.assertEqual({row['outcome'] for row in left}, {'skipped'})

    def start(self):
        """A check whose first item ends at once and whose second stays."""
        mark = self.folder / 'pid'
        mark.unlink(missing_ok=True)
        self.tests.write_text(
            'interpose-b\tinterpose\t60\ttrue\n'
            f'interpose-a\tinterpose\t60\tsh -c echo$IFS$$>{mark};'
            'exec$IFS"sleep"$IFS"50"\n')
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        check = subprocess.Popen(
            [self.unpacked / CHECK, '--soft', '--lanes', '2', '--out', out,
             'preload'], env={**PLAIN, 'PATH': '/usr/bin:/bin'}, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(check.kill)
        results = out / 'results.jsonl'
        for _ in range(600):
            if (mark.exists() and mark.read_text().strip()
                    and results.exists()
                    and '"interpose-b"' in results.read_text()):
                return check, out, int(mark.read_text())
            time.sleep(0.1)
        self.fail('the check began nothing')

    def test_whoever_kills_it_has_what_was_done(self):
        check, out, _ = self.start()
        time.sleep(1)
        check.kill()
        check.wait()
        with tarfile.open(f'{out}.tar.gz') as archive:
            page = archive.extractfile(f'{out.name}/hardware.md').read()
        self.assertIn(b'| interpose-b | passed |', page)

    def test_whoever_stops_it_has_a_page_and_no_process(self):
        check, out, child = self.start()
        check.send_signal(signal.SIGTERM)
        self.assertEqual(check.wait(timeout=30), 1)
        page = (out / 'hardware.md').read_text()
        self.assertIn('Stopped before its end.', page)
        self.assertIn('| interpose-b | passed |', page)
        self.assertFalse(os.path.exists(f'/proc/{child}'))

    def test_folders_with_white_space_are_refused(self):
        folder = self.folder / 'white space'
        folder.mkdir()
        done = subprocess.run([self.unpacked / CHECK, '--soft', 'facts'],
                              capture_output=True, text=True, check=False,
                              cwd=folder, env=PLAIN)
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('white space', done.stderr)
        self.assertEqual(list(folder.iterdir()), [])

    def test_only_missing_libraries_come_from_the_archive(self):
        brought = sorted(path.name for path in
                         (self.unpacked / 'lib').iterdir())
        known = self.folder / 'known'
        known.mkdir()
        for said, linked in (('', brought),
                             (f'\t{brought[0]} (libc6) => /x', brought[1:])):
            (known / 'ldconfig').write_text(f"#!/bin/sh\necho '{said}'\n")
            (known / 'ldconfig').chmod(0o755)
            report = self.run_check('--soft', 'facts',
                                    PATH=f"{known}:{PLAIN['PATH']}")
            self.assertEqual(sorted(path.name for path in
                                    (report.out / 'lib').iterdir()), linked)

    def test_no_device_is_one_sentence(self):
        report = self.run_check(LD_LIBRARY_PATH='/dev/null/none')
        if report.status != 77:
            self.skipTest('there is a driver here')
        self.assertIn('no CUDA device here', report.said)
        self.assertEqual(report.items, {})

    def test_wrong_words_are_refused(self):
        for words in (['--fast'], ['--out'], ['speeds'], ['--minutes', '-1'],
                      ['--minutes', 'soon'], ['--lanes', '0']):
            done = subprocess.run([self.unpacked / CHECK, *words],
                                  capture_output=True, text=True, check=False,
                                  cwd=self.unpacked, env=PLAIN)
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn('see --help', done.stderr)


class OtherDrivers(OtherTests):
    def setUp(self):
        """A few tests are enough to see that the script goes on."""
        super().setUp()
        lines = self.tests.read_text().splitlines(keepends=True)
        few = ('api-rolling\t', 'interpose-copies\t')
        self.tests.write_text(''.join(line for line in lines
                                      if line.startswith(few)))

    def planted(self, what, *steps):
        return self.run_check('--quick', *steps, PLANTED=what, **PLANTED)

    def test_registration_that_fails_is_reported(self):
        report = self.planted('register=304', 'addresses')
        self.assertEqual(report.failed(), ['address probe'], report.said)
        self.assertIn('BAD', report.page)
        self.assertIn('CUDA_ERROR_OPERATING_SYSTEM', report.page)

    def test_taken_addresses_are_reported(self):
        report = self.planted('range,memory', 'addresses')
        self.assertIn('address probe', report.failed())
        self.assertEqual([name for name in report.outcomes('skipped')],
                         ['core suites, overlay', 'core suites, window'])
        self.assertIn('something is mapped on the host where the driver',
                      report.items['core suites, window']['detail'])
        self.assertEqual(report.items['api-rolling, translate']['outcome'],
                         'passed')

    def test_driver_without_get_proc_address_is_reported(self):
        report = self.planted('lookup', 'addresses')
        self.assertEqual(report.failed(), ['address probe'], report.said)
        self.assertIn('cuGetProcAddress', report.page)

    def test_another_runtime_library_is_named(self):
        if not shutil.which('nvcc') and not os.path.exists(
                '/usr/local/cuda/bin/nvcc'):
            self.skipTest('no nvcc here')
        other = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for name in ('libcudart.so.13', 'libcudart.so.12'):
            subprocess.run(['cc', '-shared', '-x', 'c', '/dev/null', '-o',
                            other / name], check=True)
        path = f'{other}:{BUILD}/tools/softcuda'
        report = self.run_check('--quick', 'preload', LD_LIBRARY_PATH=path)
        self.assertIn('vecadd, shared', report.failed())
        self.assertNotIn('interpose-copies', report.failed())
        self.assertIn(f'run-time library libcudart.so.13 => {other}',
                      report.page)


if __name__ == '__main__':
    suite.main()
