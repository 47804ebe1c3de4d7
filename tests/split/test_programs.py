"""The programs of bench/ranges: results, files, pictures, bad arguments.

test_programs.py PROGRAM...
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

PROGRAMS = os.environ['RANGES_PROGRAMS']
DATA = os.environ['RANGES_DATA']
NAMES = sys.argv[1:]
del sys.argv[1:]
DRAWING = [name for name in NAMES if name in ('heat', 'mandel', 'nbody', 'sph')]
HEADER = 64


def run(name, *words, devices=1):
    """Run one program; (status, stdout, stderr)."""
    done = subprocess.run(
        [os.path.join(PROGRAMS, name + '_adsm'), *words], capture_output=True,
        env={**os.environ, 'SOFTCUDA_DEVICES': str(devices)}, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def make(*words):
    """Run ranges-data."""
    return subprocess.run([os.path.join(PROGRAMS, 'ranges-data'), *words],
                          capture_output=True, timeout=60).returncode


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_results_are_the_cpus_byte_for_byte(self):
        for name in NAMES:
            for devices in range(1, 5):
                status, out, err = run(name, '--verify', devices=devices)
                self.assertEqual((status, err), (0, ''), name)
                self.assertIn('  verified ', out)

    def test_a_file_that_ranges_data_makes_is_read(self):
        path = str(self.folder / 'input')
        for name in NAMES:
            self.assertEqual(make(name, 'small', path, 'seed=7'), 0)
            status, _, err = run(name, '--input', path, '--verify')
            self.assertEqual((status, err), (0, ''), name)

    def test_the_default_input_is_the_small_one(self):
        path = self.folder / 'input'
        for name in NAMES:
            self.assertEqual(make(name, 'small', str(path)), 0)
            self.assertEqual(path.read_bytes(),
                             (pathlib.Path(DATA) / (name + '.par')).read_bytes(),
                             name)

    def test_another_seed_gives_another_result(self):
        path = str(self.folder / 'input')
        for name in NAMES:
            results = []
            for seed in (1, 2):
                if make(name, 'small', path, f'seed={seed}'):
                    continue
                out = self.folder / 'out'
                self.assertEqual(run(name, '--input', path, '--out',
                                     str(out))[0], 0)
                results.append(out.read_bytes())
            # The set of Mandelbrot is what it is.
            self.assertEqual(results[0] == results[1], name == 'mandel', name)

    def test_pictures_are_png_files(self):
        for name in DRAWING:
            path = self.folder / 'picture'
            status, _, err = run(name, '--png', str(path))
            self.assertEqual((status, err), (0, ''), name)
            picture = path.read_bytes()
            self.assertEqual(picture[:8], b'\x89PNG\r\n\x1a\n', name)
            # More than one colour.
            self.assertGreater(len(picture), 1000, name)

    def test_only_programs_that_draw_have_the_option(self):
        for name in NAMES:
            _, out, _ = run(name, '--help')
            self.assertEqual('--png' in out, name in DRAWING, name)
            if name not in DRAWING:
                self.assertEqual(run(name, '--png', 'x')[0], 2)

    def test_a_picture_that_cannot_be_written_is_said(self):
        for name in DRAWING:
            status, _, err = run(name, '--png', '/dev/null/x')
            self.assertEqual((status, len(err.splitlines())), (2, 1), err)
            self.assertIn('/dev/null/x', err)


class Numbers(unittest.TestCase):
    """Each number of each header just outside its range."""

    def refused(self, name, content):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            status, out, err = run(name, '--input', file.name)
            self.assertEqual((status, out), (2, ''), name)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn(file.name, err)

    def test_sizes_of_zero_are_refused(self):
        for name in NAMES:
            good = (pathlib.Path(DATA) / (name + '.par')).read_bytes()
            self.refused(name, good[:16] + struct.pack('<I', 0) + good[20:])

    def test_more_than_a_header_is_refused(self):
        for name in NAMES:
            good = (pathlib.Path(DATA) / (name + '.par')).read_bytes()
            self.refused(name, good + b'x')
            self.refused(name, good[:HEADER - 1])

    def test_the_file_of_another_program_is_refused(self):
        for name, other in zip(NAMES, NAMES[1:]):
            self.refused(name, (pathlib.Path(DATA) /
                                (other + '.par')).read_bytes())


if __name__ == '__main__':
    suite.main()
