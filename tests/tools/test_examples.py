#!/usr/bin/env python3
"""The programs of docs/examples find what they look for wherever they run.

test_examples.py SOURCE-ROOT BUILD-ROOT

Each computes the same on the CPU and ends with 1 where that differs. The places
are those that a program is not written for: memory that the device shares, more
parts than anybody asks for, protocols and blocks of no good size, addresses that
are two.
"""
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

ROOT = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
del sys.argv[1:]
PROGRAMS = ('cg', 'blur', 'radix', 'port', 'kmeans', 'heat', 'walk', 'dice',
            'product')
FITS_NOT = {'SOFTCUDA_MEMORY': '16M'}  # large has 50 MiB


def code_of(name):
    for root in (ROOT, BUILD):
        code = root / 'docs/examples' / f'{name}.ptx'
        if code.exists():
            return code
    return None


class Examples(unittest.TestCase):
    wanted = {}

    def run_one(self, name, settings):
        program = BUILD / 'docs/examples' / name
        if not program.exists() or not code_of(name):
            return None  # no clang, or no C++ compiler, here
        got = subprocess.run(
            [program, code_of(name)], text=True, capture_output=True,
            env={**suite.plain_environment(),
                 'LD_LIBRARY_PATH': str(BUILD / 'tools/softcuda'),
                 **settings}, check=False, timeout=240)
        said = [line for line in got.stderr.splitlines()
                if 'no room for' not in line]
        self.assertEqual((got.returncode, said), (0, []),
                         (name, settings, got))
        # Behind the number of devices, and for some that of copies.
        return re.sub(r'^\d+ devices|\d+ (copies )?of [abc]\b', '', got.stdout)

    def run_all(self, **settings):
        for name in PROGRAMS:
            if name not in self.wanted:
                self.wanted[name] = self.run_one(name, {})
            self.assertEqual(self.run_one(name, settings), self.wanted[name])
        self.run_one('large', {**settings, **FITS_NOT})

    def test_on_a_device_that_shares_the_memory(self):
        self.run_all(SOFTCUDA_INTEGRATED='1')

    def test_on_such_a_device_in_many_parts(self):
        self.run_all(SOFTCUDA_INTEGRATED='1', ADSM_PARTS='300')

    def test_in_many_parts(self):
        self.run_all(ADSM_PARTS='300')

    def test_on_three_devices_with_all_objects_at_each_call(self):
        self.run_all(SOFTCUDA_DEVICES='3', ADSM_PROTOCOL='batch')

    def test_with_blocks_of_a_page_that_leave_at_once(self):
        self.run_all(ADSM_BLOCK_SIZE='4K', ADSM_ROLLING_SIZE='1',
                     ADSM_ROLLING_LEARN='0')

    def test_with_two_addresses_on_two_devices(self):
        self.run_all(SOFTCUDA_DEVICES='2', ADSM_ADDRESS='translate',
                     ADSM_PROTOCOL='lazy')


if __name__ == '__main__':
    suite.main()
