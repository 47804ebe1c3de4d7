#!/usr/bin/env python3
"""README.md lists the variables there are, and a program is told of others.

test_readme.py SOURCE-ROOT LIBRARY-FOLDER
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
LIBRARIES = sys.argv[2]
del sys.argv[1:]
# What a program does that uses a device.
USE = """
import ctypes
cuda = ctypes.CDLL('libcuda.so.1')
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
"""


def complaints(**variables):
    """What a program with these variables is told on standard error."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(('SOFTCUDA_', 'LD_'))}
    got = subprocess.run([sys.executable, '-c', USE], text=True, check=False,
                         env={**env, **variables,
                              'LD_LIBRARY_PATH': LIBRARIES},
                         capture_output=True, timeout=60)
    assert got.returncode == 0, got
    return got.stderr


class Variables(unittest.TestCase):
    page = (ROOT / 'README.md').read_text(encoding='utf-8')
    table = dict(re.findall(r'^\| `(SOFTCUDA_\w+)` \| ([^|]*) \|', page, re.M))

    def test_page_lists_those_the_sources_read(self):
        read = set()
        for file in ROOT.glob('[!t]*/*.c'):
            read |= set(re.findall(r'"(SOFTCUDA_[A-Z_]+)"',
                                   file.read_text(encoding='utf-8')))
        self.assertEqual(set(self.table), read)

    def test_empty_ones_are_as_if_not_set(self):
        self.assertEqual(complaints(**{name: '' for name in self.table}), '')

    def test_garbage_is_said_and_the_default_kept(self):
        garbage = {name: '%' for name in self.table
                   if not name.endswith(('CC', 'CACHE', 'KEEP', 'PROGRAM',
                                         'TOUCHED'))}
        kept = dict(re.findall(r'^softcuda: (SOFTCUDA_\w+)=% .* keeping (.*)$',
                               complaints(**garbage), re.M))
        self.assertEqual(set(kept), set(garbage))
        for name, value in kept.items():
            if name not in ('SOFTCUDA_LINK', 'SOFTCUDA_PACE',
                            'SOFTCUDA_LATENCY', 'SOFTCUDA_ISA'):
                self.assertEqual(value, self.table[name], name)

    def check_list(self, name, wrong, right, what='a rate'):
        for text in wrong:
            said = complaints(**{name: text, 'SOFTCUDA_DEVICES': '2'})
            self.assertEqual(said.count('\n'), 1, said)
            self.assertIn(f'{name}={text} is not {what}', said)
        for text in right:
            self.assertEqual(complaints(**{name: text}), '')

    def test_wrong_pace_in_a_list_is_said_once(self):
        self.check_list('SOFTCUDA_PACE',
                        ('50M/s,', '1M/s,x', ',', '50MB/s', '1/s', '-1M/s',
                         ','.join(['1M/s'] * 17)),
                        ('0', '0,5k/s', '1.5G/s,20M/s,3000',
                         '1M/s,' * 15 + '1M/s'))

    def test_wrong_link_in_a_list_is_said_once(self):
        self.check_list('SOFTCUDA_LINK',
                        ('12GB/s,', '1GB/s,x', ',', '50M/s', '1/s', '-1MB/s',
                         ','.join(['1MB/s'] * 17)),
                        ('0', '0,1e6', '1.5GiB/s,20MB/s,0',
                         '1MB/s,' * 15 + '1MB/s'))

    def test_wrong_latency_is_said_once(self):
        self.check_list('SOFTCUDA_LATENCY',
                        ('3us', '1us,2us,3us', '1us,2us,3us,', '1,2,3,4,5',
                         '1us,2us,3us,x', '1s,1s,1s,1s', '-1us,1us,1us,1us',
                         '1us,2us,3us,2000ms', 'H200'),
                        ('0', '0,0,0,0', '3.6us,8.8us,5.4us,8.3us',
                         '3.6,8800ns,0,1ms'),
                        'four times')

    def test_misspelt_one_is_said(self):
        said = complaints(SOFTCUDA_NATIV='off', SOFTCUDA_LINKS='1')
        for name in 'SOFTCUDA_NATIV', 'SOFTCUDA_LINKS':
            self.assertRegex(said, rf'(?m)no variable {name}; .*README.md')
        self.assertEqual(said.count('\n'), 2, said)


if __name__ == '__main__':
    unittest.main()
