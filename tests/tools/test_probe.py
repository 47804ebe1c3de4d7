#!/usr/bin/env python3
"""gpu-probe as built: what it says of the software device, of a driver with a
fault, and of none.

test_probe.py BUILD-ROOT
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PROBE = BUILD / 'tools/gpu-check/gpu-probe'
PLANTED = {'LD_LIBRARY_PATH': str(BUILD / 'tests/drivers')}
SOFT = {'LD_LIBRARY_PATH': str(BUILD / 'tools/softcuda')}
KEYS = ['probe', 'question', 'answer', 'expected', 'good', 'detail']

PLAIN = {name: value for name, value in os.environ.items()
         if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_'))}


def probe(*words, **extra):
    return subprocess.run([PROBE, *words], env={**PLAIN, **extra}, text=True,
                          capture_output=True, check=False, timeout=150)


def answers(run):
    """The lines, as objects."""
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert all(list(row) == KEYS for row in rows), rows
    return rows


def bad(rows):
    return [(row['probe'], row['answer']) for row in rows if not row['good']]


class Answers(unittest.TestCase):
    def test_software_device_answers_as_libadsm_needs(self):
        run = probe(**SOFT)
        rows = answers(run)
        self.assertEqual((run.returncode, run.stderr, bad(rows)), (0, '', []))
        asked = {row['probe'] for row in rows}
        self.assertEqual(asked, set(probe('--help').stdout.splitlines()[-1]
                                    .split()))
        for row in rows:
            self.assertIn(row['expected'], (row['answer'], 'none'))

    def test_what_is_relied_on_is_expected_and_the_rest_is_not(self):
        rows = answers(probe('window', 'timing', **SOFT))
        needed = [row for row in rows if row['expected'] != 'none']
        self.assertGreater(sum(row['probe'] == 'window' for row in needed), 12)
        self.assertFalse([row for row in needed if row['probe'] == 'timing'])
        for row in rows:
            if row['probe'] == 'timing':
                self.assertGreater(float(row['answer']), 0)

    def test_each_kind_of_memory_below_pages_is_as_it_was(self):
        # What a GPU says otherwise is what the software device has to learn.
        held = pathlib.Path(__file__).with_name('probe_soft.txt').read_text()
        names = list(dict.fromkeys(re.findall(r'(?m)^(\w+):', held)))
        rows = answers(probe(*names, **SOFT))
        said = [f"{row['probe']}: {row['question']} {row['answer']}"
                for row in rows if row['probe'] in names]
        self.maxDiff = None
        self.assertEqual(said, held.splitlines())

    def test_table_has_a_line_for_every_answer(self):
        lines = probe('--table', 'small', **SOFT).stdout.splitlines()
        rows = answers(probe('small', **SOFT))
        self.assertEqual(len(lines), len(rows))
        for line, row in zip(lines, rows):
            self.assertIn(f"{row['question']} {row['answer']}", line)
            self.assertEqual(line.split()[0], row['probe'])

    def test_named_probes_only_and_the_first(self):
        rows = answers(probe('small', **SOFT))
        self.assertEqual({row['probe'] for row in rows}, {'driver', 'small'})

    def test_wrong_arguments_are_refused(self):
        for words in (['--tables'], ['--limit', 'x'], ['--limit', '-1'],
                      ['--limit'], ['nothing']):
            run = probe(*words, **SOFT)
            self.assertEqual((run.returncode, run.stdout), (2, ''), words)
            self.assertIn(f"'{words[-1]}'", run.stderr)

    def test_preloaded_libadsm_is_refused(self):
        run = probe(LD_PRELOAD=str(BUILD / 'interpose/libadsm-preload.so'),
                    **SOFT)
        self.assertEqual((run.returncode, run.stdout), (2, ''))
        self.assertIn('libadsm-preload', run.stderr)


class Drivers(unittest.TestCase):
    def planted(self, what, *words):
        run = probe(*words, PLANTED=what, **PLANTED)
        self.assertEqual(run.stderr, '')
        return run, answers(run)

    def test_no_driver_is_said_in_a_sentence(self):
        look = [sys.executable, '-c',
                'import ctypes; ctypes.CDLL("libcuda.so.1")']
        if subprocess.run(look, check=False, capture_output=True, env=PLAIN
                          ).returncode == 0:
            self.skipTest('there is a CUDA driver here')
        run = probe()
        self.assertEqual((run.returncode, run.stdout), (77, ''))
        self.assertRegex(run.stderr, r'\Agpu-probe: .*libcuda\.so\.1.*\n\Z')

    def test_device_that_cannot_start_is_said_in_a_sentence(self):
        run = probe(SOFTCUDA_DEVICE_PROGRAM='/dev/null/x', **SOFT)
        self.assertEqual((run.returncode, run.stdout), (77, ''))
        self.assertRegex(run.stderr, r'(?m)^gpu-probe: no CUDA device .*: cu')

    def test_full_device_is_an_answer(self):
        run = probe(SOFTCUDA_MEMORY='4M', **SOFT)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(bad(answers(run)), [('overlay-large',
                                              'CUDA_ERROR_OUT_OF_MEMORY')])

    def test_first_of_several_devices_is_asked(self):
        rows = answers(probe('driver', SOFTCUDA_DEVICES='3', **SOFT))
        self.assertIn('device 0', [row['detail'] for row in rows])
        self.assertEqual(bad(rows), [])

    def test_somebody_elses_memory_in_the_window_is_found(self):
        run, rows = self.planted('range')
        self.assertEqual(run.returncode, 1)
        self.assertEqual({name for name, _ in bad(rows)}, {'window'})
        worst = next(row for row in rows if not row['good'])
        self.assertIn('on the host', worst['question'])
        self.assertIn(' r--p ', worst['detail'])

    def test_driver_without_newer_calls_is_asked_by_name(self):
        run, rows = self.planted('lookup')
        self.assertEqual({name for name, _ in bad(rows)}, {'entries'})
        self.assertEqual(run.returncode, 1)

    def test_copies_that_do_nothing_are_found(self):
        _, rows = self.planted('forget=cuMemcpyHtoD_v2', 'overlay')
        self.assertIn(('overlay', 'no'), bad(rows))

    def test_fault_of_a_copy_is_told_from_an_error(self):
        _, rows = self.planted('touch=cuMemcpyDtoH_v2', 'pageable')
        up, down = [row for row in rows if row['probe'] == 'pageable']
        self.assertEqual(up['detail'], 'without a fault')
        self.assertEqual(down['answer'], 'it faults in the driver')
        self.assertEqual(down['detail'],
                         '1 faults that open pages, then: it works')

    def test_crash_costs_one_probe(self):
        run, rows = self.planted('crash=cuMemHostRegister_v2', 'register',
                                 'small')
        self.assertEqual(run.returncode, 1)
        self.assertEqual(bad(rows), [('register', 'died of SIGSEGV')])
        self.assertIn('small', {row['probe'] for row in rows})
        died = next(row for row in rows if not row['good'])
        self.assertIn('be registered', died['question'])

    def test_hang_costs_one_probe(self):
        run, rows = self.planted('hang=cuMemHostRegister_v2', '--limit', '5',
                                 'register', 'small')
        self.assertEqual(run.returncode, 1)
        self.assertEqual(bad(rows), [('register', 'no answer within 5 s')])
        self.assertIn('small', {row['probe'] for row in rows})

    def test_limit_holds_for_every_probe(self):
        run, rows = self.planted('hang=cuInit', '--limit', '0.5', 'small')
        self.assertEqual(run.returncode, 1)
        self.assertEqual(bad(rows), [
            ('driver', 'no answer within 0.5 s'),
            ('small', 'no answer within 0.5 s')])
        self.assertEqual({row['question'] for row in rows},
                         {'can the driver be opened?'})


if __name__ == '__main__':
    suite.main()
