#!/usr/bin/env python3
"""Frameworks of this Python on the software device: bare, preloaded, and with
NumPy in place, as tools/gpu-check/frameworks.py has them for GPUs.

test_frameworks.py BUILD-ROOT C-COMPILER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tests/common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
COMPILER = sys.argv[2].split()
del sys.argv[1:]
ABSENT = 77


class Frameworks(unittest.TestCase):
    def run_it(self, name, *libraries):
        env = {**os.environ, 'PYTHONDONTWRITEBYTECODE': '1',
               'LD_LIBRARY_PATH': ':'.join([f'{BUILD}/tools/softcuda',
                                            *libraries])}
        done = subprocess.run(
            [sys.executable, ROOT / 'tools/gpu-check/frameworks.py', name,
             BUILD / 'interpose/libadsm-preload.so'], env=env, text=True,
            capture_output=True, check=False, timeout=250)
        if done.returncode == ABSENT:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('NumPy works in place', done.stdout)

    def test_numba(self):
        """Linked by the driver: what NVIDIA's nvJitLink makes is machine code,
        so Numba is to find one that can do nothing."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for version in 12, 13:
            subprocess.run([*COMPILER, '-shared', '-x', 'c', '/dev/null', '-o',
                            f'{folder}/libnvJitLink.so.{version}'], check=True)
        self.run_it('numba', folder)

    def test_pycuda(self):
        self.run_it('pycuda')


if __name__ == '__main__':
    suite.main()
