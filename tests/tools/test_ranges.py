#!/usr/bin/env python3
"""docs/ranges.md says what its examples and the library do.

test_ranges.py SOURCE-ROOT BUILD-ROOT
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
EXAMPLES = ROOT / 'docs/examples'
PAGE = (ROOT / 'docs/ranges.md').read_text(encoding='utf-8')
TEXTS = re.findall(r'^```text\n(.*?)^```', PAGE, re.M | re.S)


def run(name, **extra):
    return subprocess.run(
        [BUILD / 'docs/examples' / name, EXAMPLES / f'{name}.ptx'], text=True,
        env={**suite.plain_environment(),
             'LD_LIBRARY_PATH': str(BUILD / 'tools/softcuda'),
             'SOFTCUDA_DEVICES': '2', **extra},
        capture_output=True, check=False, timeout=120)


class Examples(unittest.TestCase):
    def check(self, name, **extra):
        if not (BUILD / 'docs/examples' / name).exists():
            self.skipTest('no C++ compiler here')
        got = run(name, **extra)
        self.assertEqual((got.returncode, got.stderr), (0, ''), got)
        return got.stdout

    def test_they_print_what_the_page_says(self):
        self.assertEqual(self.check('heat'), TEXTS[0])
        self.assertEqual(self.check('product'), TEXTS[1])
        self.assertEqual(self.check('walk'), TEXTS[3])
        self.assertEqual(self.check('dice'), TEXTS[4])

    def test_results_do_not_depend_on_devices_parts_and_protocols(self):
        for extra in [{'SOFTCUDA_DEVICES': '1'}, {'SOFTCUDA_DEVICES': '3'},
                      {'ADSM_PARTS': '7'}, {'SOFTCUDA_PEER': '0'},
                      {'ADSM_PROTOCOL': 'lazy'}, {'ADSM_PROTOCOL': 'batch'}]:
            self.assertIn('heat 100.000 of 100', self.check('heat', **extra))
            self.assertIn(' 0 wrong', self.check('product', **extra))
            for name, text in (('walk', TEXTS[3]), ('dice', TEXTS[4])):
                self.assertIn(text.partition(',')[2],
                              self.check(name, **extra))

    def test_processors_come_to_the_same_result(self):
        want = self.check('heat').partition('heat ')[2]
        for devices in ('cpu', '0,cpu', '0,1,cpu', 'cpu,1'):
            self.assertIn(want, self.check('heat', ADSM_DEVICES=devices))

    def test_code_of_the_page_is_theirs(self):
        for language, names in (('cuda', ('heat.cu', 'walk.cu', 'dice.cu')),
                                ('c', ('heat.c', 'walk.c', 'dice.c')),
                                ('cpp', ('product.cc', 'heat_cpu.cc'))):
            codes = re.findall(rf'^```{language}\n(.*?)^```', PAGE,
                               re.M | re.S)
            self.assertEqual(len(codes), len(names))
            for code, name in zip(codes, names):
                self.assertIn(code,
                              (EXAMPLES / name).read_text(encoding='utf-8'))

    def test_their_ptx_is_current(self):
        for name in ('heat', 'product', 'walk', 'dice'):
            got = subprocess.run(
                [ROOT / 'tools/ptx.sh', '--check', EXAMPLES / f'{name}.cu',
                 EXAMPLES / f'{name}.ptx'], check=False, capture_output=True,
                text=True, timeout=60)
            if got.returncode == 77:
                self.skipTest(got.stderr.strip())
            self.assertEqual(got.returncode, 0, got.stderr)

    def test_counters_are_those_of_the_page(self):
        said = run('heat', ADSM_STATS='1', ADSM_PARTS='2').stderr.splitlines()
        shown = TEXTS[2].splitlines()
        self.assertGreater(len(shown), 8)
        self.assertEqual([line for line in shown if line not in said], [],
                         said)


class Mistakes(unittest.TestCase):
    def test_sentences_are_those_of_the_library(self):
        source = ' '.join(
            path.read_text(encoding='utf-8')
            for room in ('call', 'range')
            for path in (ROOT / 'libadsm' / room).glob('*.c'))
        texts = re.sub(r'"\s+"', '', source)
        table = PAGE[PAGE.index('## Mistakes'):]
        rows = re.findall(r'^\| `([^`]+)`', table, re.M)
        self.assertGreater(len(rows), 8)
        for row in rows:
            # Numbers and names are filled in; who is meant, often elsewhere.
            said = re.sub(r"^argument 0 of kernel 'k' (?=[a-z])", '',
                          row.replace('…', ''))
            words = re.split(r"\[\d+:\d+\]|\b\d+\b|0x7f|(?<=')k(?=')", said)
            pattern = '%[a-z]+'.join(map(re.escape, words)).rstrip('\\ ')
            self.assertTrue(re.search(pattern, texts), row)


if __name__ == '__main__':
    suite.main()
