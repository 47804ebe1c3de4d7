"""split.sh: what it runs, what it compares, what it says is wrong.

test_split.py SPLIT.SH
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

SPLIT = sys.argv.pop(1)
# Programs say themselves what a device would: how many kernels it ran.
COUNTED = 'echo "softcuda: sum $ADSM_PARTS launches, 1.5 ms" >&2'


class Split(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = pathlib.Path(folder.name) / 'program'

    def split(self, body, *words):
        self.program.write_text(f'#!/bin/sh\n{body}\n', encoding='utf-8')
        self.program.chmod(0o755)
        done = subprocess.run([SPLIT, *words, str(self.program)],
                              capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode()

    def test_equal_results_are_good_for_all_parts_and_devices(self):
        status, out = self.split(f'echo 42; echo 1 >file; {COUNTED}')
        self.assertEqual((status, out),
                         (0, 'program: 68 runs, 1 to 17 kernels\n'))

    def test_a_word_that_differs_is_found(self):
        body = f'[ $ADSM_PARTS = 7 ] && echo 7; {COUNTED}'
        status, out = self.split(body, '--parts', '1,7,17', '--devices', '2')
        self.assertEqual(status, 1)
        self.assertIn('parts=7 devices=2: prints something else', out)
        self.assertEqual(self.split(body, '--files', '--parts', '1,7')[0], 0)

    def test_a_file_that_differs_is_found(self):
        body = f'echo $SOFTCUDA_DEVICES >file; {COUNTED}'
        status, out = self.split(body, '--parts', '1,2', '--devices', '1,3')
        self.assertEqual(status, 1)
        self.assertIn('parts=1 devices=3: files differ', out)
        self.assertEqual(self.split(body, '--parts', '1,2', '--devices', '3')[0],
                         0)

    def test_a_run_that_fails_is_said(self):
        status, out = self.split('[ $ADSM_PARTS != 2 ] || '
                                 '{ echo no memory >&2; bad=1; }; '
                                 f'{COUNTED}; exit ${{bad:-0}}',
                                 '--parts', '1,2,3', '--devices', '1')
        self.assertEqual(status, 1)
        self.assertIn('parts=2 devices=1: failed: no memory', out)

    def test_calls_that_are_not_split_are_said(self):
        status, out = self.split('for kernel in sum step; do '
                                 'echo "softcuda: $kernel 5 launches, 1 ms"; '
                                 'done >&2')
        self.assertEqual(status, 1)
        self.assertIn('nothing was split: every run had 10 kernels', out)

    def test_bad_arguments_end_with_2(self):
        for words in (['--parts', '1,x'], ['--colour'], ['--devices', '']):
            self.assertEqual(self.split('true', *words)[0], 2, words)
        self.assertEqual(subprocess.run([SPLIT], capture_output=True).returncode,
                         2)


if __name__ == '__main__':
    suite.main()
