#!/usr/bin/env python3
"""The list of the driver's calls (interpose/cuda/surface.def) against what the
libraries export and what programs look up.

test_surface.py BUILD-ROOT SOURCE-ROOT
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
del sys.argv[1:3]
LOOKUPS = SOURCE / 'tools/softcuda/tests/driver/lookups.txt'
ENTRIES = SOURCE / 'tools/softcuda/driver/entries.def'
# Passed on, or not looked into: every word is explained in the list.
CLASSES = {'HOOKED', 'QUERY', 'SETTING', 'HANDLE', 'ORDER', 'CODE', 'RECORD',
           'ADDRESS', 'OWN', 'NARROW', 'HOST', 'CALLBACK', 'CALLER',
           'GRAPHICS', 'UNKNOWN'}


def section(flag, name):
    done = subprocess.run([BUILD / 'tools/adsm-info', '--json', flag],
                          capture_output=True, text=True, check=True,
                          timeout=60)
    return json.loads(done.stdout)[name]


def exports(library):
    """Names of functions of the driver that a library exports."""
    done = subprocess.run(['nm', '-D', '--defined-only', BUILD / library],
                          capture_output=True, text=True, check=True)
    return {name for name in re.findall(r' [TW] (\w+)', done.stdout)
            if re.match(r'cu[A-Z]', name)}


class Surface(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.rows = section('--hooks=all', 'surface')
        cls.calls = {row['symbol']: row for row in cls.rows}
        cls.hooks = {row['symbol']: row for row in section('--hooks', 'hooks')
                     if row['kind'] == 'CUDA driver'}
        cls.hooked = {row['symbol'] for row in cls.rows
                      if row['class'] == 'HOOKED'}

    def test_names_are_sorted_and_listed_once(self):
        names = [row['symbol'] for row in self.rows]
        self.assertEqual(names, sorted(set(names)))

    def test_head_counts_them(self):
        text = (SOURCE / 'interpose/cuda/surface.def').read_text()
        count = int(re.search(r'included: (\d+) names', text).group(1))
        self.assertEqual(len(self.rows), count + 3)

    def test_each_is_in_a_class_that_says_why(self):
        for row in self.rows:
            self.assertIn(row['class'], CLASSES, row)
            self.assertTrue(row['why'], row)
        self.assertEqual({row['class'] for row in self.rows}, CLASSES)

    def test_hooked_ones_are_the_hooks(self):
        self.assertEqual(self.hooked, set(self.hooks))

    def test_hooks_mean_the_version_that_brought_their_form(self):
        self.assertEqual(
            {name: self.calls[name]['since CUDA'] for name in self.hooks},
            {name: row['since CUDA'] for name, row in self.hooks.items()})

    def test_hooked_ones_are_exported(self):
        self.assertEqual(exports('interpose/libadsm-preload.so'), self.hooked)

    def test_calls_of_the_software_device_are_listed(self):
        self.assertEqual(exports('tools/softcuda/libcuda.so.1')
                         - set(self.calls), set())

    def test_versions_are_those_of_the_software_device(self):
        entries = {
            match[2]: int(match[1]) for match in re.finditer(
                r'(?m)^SC_\w+\(\w+, (\d+), \d, (\w+)\)', ENTRIES.read_text())}
        self.assertGreater(len(entries), 600)
        for name, since in entries.items():
            if not name.startswith('cuProfiler'):  # older than its header
                self.assertEqual(self.calls[name]['since CUDA'],
                                 f'{since // 1000}.{since % 1000 // 10}', name)

    def test_look_ups_of_the_runtime_are_listed(self):
        rows = [line.split() for line in LOOKUPS.read_text().splitlines()
                if not line.startswith('#')]
        self.assertGreater(len(rows), 350)
        for row in rows:
            self.assertIn(row[-1], self.calls, row)


if __name__ == '__main__':
    unittest.main()
