#!/usr/bin/env python3
"""The transfer report of a program that nvcc has compiled: lines are its own, not
those of the runtime's headers, nor of what nvcc makes of a launch.

test_nvcc.py BUILD-ROOT NVCC
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'common'))
import suite  # noqa: E402

BUILD, NVCC = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
del sys.argv[1:]
SOURCE = HERE / 'vec.cu'


def line(mark):
    return next(number for number, text in
                enumerate(SOURCE.read_text().splitlines(), 1) if mark in text)


class Nvcc(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report(self, *how):
        program, path = self.folder / 'vec', self.folder / 'report.json'
        path.unlink(missing_ok=True)
        subprocess.run([NVCC, '-cudart', 'shared', *how,
                        '-Wno-deprecated-gpu-targets', '-gencode',
                        'arch=compute_75,code=compute_75', '-o', program,
                        SOURCE], check=True, timeout=300)
        run = subprocess.run([BUILD / 'tools/adsm-run', '--soft',
                              f'--report={path}', program], text=True,
                             env=suite.plain_environment(), check=False,
                             capture_output=True, timeout=300)
        self.assertEqual(run.returncode, 0, run)
        return run, json.loads(path.read_text())

    def test_lines_are_the_program_s_own(self):
        for how in (['-g'], ['-g', '-O2']):
            run, said = self.report(*how)
            found = {(f['kind'], pathlib.Path(f['file']).name, f['line'])
                     for f in said['findings']}
            self.assertEqual(
                found, {(kind, 'vec.cu', line(f'PLANTED {kind}'))
                        for kind in ('duplicate', 'needless_sync')}, run)
            places = {(site['what'], site.get('line'))
                      for site in said['sites']}
            self.assertIn(('alloc', line('ALLOCATES')), places, run)
            self.assertIn(('launch', line('LAUNCHES')), places, run)


if __name__ == '__main__':
    suite.main()
