"""grey-stream: pixels beside sRGB worked out here, and files that are none.

Environment: STREAM_PROGRAMS, the folder of the programs.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

PROGRAMS = os.environ['STREAM_PROGRAMS']


def run(name, *words, devices=1):
    """Run one program; (status, stdout, stderr)."""
    done = subprocess.run(
        [os.path.join(PROGRAMS, name), *map(str, words)], capture_output=True,
        env={**os.environ, 'SOFTCUDA_DEVICES': str(devices)}, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def chunks(data):
    at = 8
    while at < len(data):
        length, = struct.unpack_from('>I', data, at)
        yield data[at + 4:at + 8], data[at + 8:at + 8 + length]
        at += 12 + length


def pixels_of(path):
    """(width, height, channels, bytes) of a PNG file without filters."""
    packed = b''
    for kind, body in chunks(path.read_bytes()):
        if kind == b'IHDR':
            width, height, bits, colour = struct.unpack('>IIBB', body[:10])
        if kind == b'IDAT':
            packed += body
    assert bits == 8
    channels = {0: 1, 2: 3}[colour]
    rows, step = zlib.decompress(packed), width * channels + 1
    assert not any(rows[::step])
    return width, height, channels, b''.join(
        rows[y * step + 1:(y + 1) * step] for y in range(height))


def linear(byte):
    x = byte / 255
    return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4


LINEAR = [linear(byte) for byte in range(256)]


def grey(r, g, b):
    """Of one pixel, not rounded."""
    y = 0.2126 * LINEAR[r] + 0.7152 * LINEAR[g] + 0.0722 * LINEAR[b]
    return 255 * (12.92 * y if y <= 0.0031308
                  else 1.055 * y ** (1 / 2.4) - 0.055)


class Stream(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / 'out'
        self.out.mkdir()

    def make(self, size, count):
        self.assertEqual(run('grey-pictures', size, count, self.folder)[0], 0)
        return [self.folder / f'{i}.png' for i in range(count)]

    def result(self, path):
        return self.out / (path.stem + '-grey.png')

    def check(self, path, words=()):
        """The result, next to what is worked out in double precision."""
        most = 0.6 if '--table' in words else 0.501
        width, height, channels, colours = pixels_of(path)
        self.assertEqual(channels, 3)
        *shape, greys = pixels_of(self.result(path))
        self.assertEqual(shape, [width, height, 1])
        for i, got in enumerate(greys):
            want = grey(*colours[3 * i:3 * i + 3])
            self.assertLess(abs(got - want), most, i)
        self.assertGreater(len(set(greys)), 100)

    def test_pictures_become_their_luminance(self):
        paths = self.make('67x41', 3)
        for words in [], ['--table'], ['--alone'], ['--chunks=7']:
            for devices in 1, 2:
                status, out, err = run('grey-stream', '--verify', *words,
                                       self.out, *paths, devices=devices)
                self.assertEqual((status, err), (0, ''))
                self.assertIn('3 of 3 pictures', out)
                for path in paths:
                    self.check(path, words)
                    self.result(path).unlink()

    def test_black_and_white_stay(self):
        path = self.folder / 'ends.png'
        rows = b'\0' + b'\0\0\0' * 4 + b'\0' + b'\xff\xff\xff' * 4
        head = struct.pack('>IIBBBBB', 4, 2, 8, 2, 0, 0, 0)
        with path.open('wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n')
            for kind, body in ((b'IHDR', head), (b'IDAT', zlib.compress(rows)),
                               (b'IEND', b'')):
                file.write(struct.pack('>I', len(body)) + kind + body +
                           struct.pack('>I', zlib.crc32(kind + body)))
        for words in [], ['--table']:
            status, _, err = run('grey-stream', *words, self.out, path)
            self.assertEqual((status, err), (0, ''))
            self.assertEqual(pixels_of(self.result(path))[3],
                             bytes([0] * 4 + [255] * 4))

    def test_more_pictures_than_there_are_tasks(self):
        paths = self.make('320x240', 15)
        files = {}
        for words in [], ['--chunks=3'], ['--alone'], ['--devices=1']:
            status, _, err = run('grey-stream', '--verify', *words, self.out,
                                 *paths, devices=2)
            self.assertEqual((status, err), (0, ''))
            for path in paths:
                pixels = pixels_of(self.result(path))
                self.assertEqual(files.setdefault(path, pixels), pixels)

    def test_pictures_of_different_sizes_follow_each_other(self):
        big, = self.make('300x200', 1)
        big = big.rename(self.folder / 'big.png')
        tiny, = self.make('1x1', 1)
        status, _, err = run('grey-stream', '--verify', self.out, tiny, big)
        self.assertEqual((status, err), (0, ''))
        self.assertEqual(pixels_of(self.result(tiny))[:2], (1, 1))
        self.assertEqual(pixels_of(self.result(big))[:2], (300, 200))

    def test_bad_files_are_named_and_others_converted(self):
        good = self.make('64x48', 2)
        data = good[0].read_bytes()
        cut, noise, empty, bent, gone = bad = [
            self.folder / f'{name}.png'
            for name in ('cut', 'noise', 'empty', 'bent', 'gone')]
        cut.write_bytes(data[:len(data) // 2])
        noise.write_bytes(bytes(range(256)) * 20)
        empty.write_bytes(b'')
        bent.write_bytes(data[:200] + bytes([data[200] ^ 255]) + data[201:])
        for words in [], ['--alone']:
            status, out, err = run('grey-stream', '--verify', *words, self.out,
                                   bad[0], good[0], *bad[1:], good[1])
            self.assertEqual(status, 1)
            self.assertIn('2 of 7 pictures', out)
            lines = sorted(err.splitlines())
            self.assertEqual(len(lines), 5, err)
            for path, line in zip(sorted(map(str, bad)), lines):
                self.assertIn(f"'{path}': ", line)
            self.assertIn('damaged or cut short', err)
            self.assertIn('no PNG file', err)
            self.assertIn('No such file', err)
            for path in good:
                self.check(path)
                self.result(path).unlink()
            self.assertEqual(list(self.out.iterdir()), [])

    def test_results_that_cannot_be_written_are_named(self):
        paths = self.make('8x8', 2)
        status, out, err = run('grey-stream', self.folder / 'none', *paths)
        self.assertEqual(status, 1)
        self.assertIn('0 of 2 pictures', out)
        self.assertEqual(err.count('cannot be written'), 2)

    def test_a_wrong_command_line_does_nothing(self):
        path, = self.make('8x8', 1)
        for words in (['--chunks=33', self.out, path], ['--devices=0', 'a', 'b'],
                      ['--fast', self.out, path], [self.out], [],
                      [self.out, path, path]):
            status, out, err = run('grey-stream', *words)
            self.assertEqual((status, out), (2, ''))
            self.assertIn('usage: grey-stream', err)
        for words in ['8x', '1', 'a'], ['0x1', '1', 'a'], ['8x8', 'a']:
            self.assertEqual(run('grey-pictures', *words)[0], 2)
        self.assertEqual(list(self.out.iterdir()), [])


if __name__ == '__main__':
    suite.main()
