"""Programs by hand on the CUDA driver API beside those on adsm.h.

The same bytes as a result, and as many over the links of the devices.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

PROGRAMS = pathlib.Path(os.environ['RANGES_PROGRAMS'])
# Sizes that are no multiples, shares of one row, and devices without any.
INPUTS = [('floyd', {'n': 101}), ('floyd', {'n': 5}),
          ('heat', {'nx': 193, 'ny': 131, 'steps': 9, 'every': 99}),
          ('heat', {'nx': 7, 'ny': 5, 'steps': 5, 'every': 99}),
          ('blackscholes', {'options': 10007}), ('blackscholes', {'options': 9})]


class ByHand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.input = os.path.join(folder.name, 'input')
        self.out = pathlib.Path(folder.name, 'out')

    def make(self, name, numbers):
        subprocess.run(
            [PROGRAMS / 'ranges-data', name, 'small', self.input]
            + ['%s=%d' % number for number in numbers.items()], check=True)

    def run_form(self, name, form, devices):
        """(result, bytes up, bytes down) of all devices."""
        done = subprocess.run(
            [PROGRAMS / f'{name}_{form}', '--input', self.input, '--verify',
             '--out', self.out], capture_output=True, timeout=60,
            env={**os.environ, 'SOFTCUDA_DEVICES': str(devices),
                 'ADSM_PARTS': str(devices), 'SOFTCUDA_STATS': '1',
                 'SOFTCUDA_STRICT': '1'})
        self.assertEqual(done.returncode, 0, done.stderr)
        moved = re.findall(rb'\((\d+) up, (\d+) down\)', done.stderr)
        self.assertEqual(len(moved), devices)
        return (self.out.read_bytes(), sum(int(up) for up, _ in moved),
                sum(int(down) for _, down in moved))

    def test_results_and_bytes_are_those_of_adsm(self):
        for name, numbers in INPUTS:
            self.make(name, numbers)
            for devices in (1, 2, 3, 4, 7):
                result, up, down = self.run_form(name, 'explicit', devices)
                same, adsm_up, adsm_down = self.run_form(name, 'adsm', devices)
                where = (name, numbers, devices)
                self.assertEqual(result, same, where)
                self.assertEqual(up, adsm_up, where)
                if name == 'floyd':
                    # Row 0 is the host's still, and not brought by a device.
                    users = min(devices, numbers['n'])
                    down -= 4 * numbers['n'] * (users - 1)
                self.assertEqual(down, adsm_down, where)

    def test_heat_that_the_cpu_touches_is_the_same(self):
        self.make('heat', {'nx': 40, 'ny': 33, 'steps': 60, 'every': 3})
        for devices in (1, 3, 4):
            result, up, _ = self.run_form('heat', 'explicit', devices)
            same, adsm_up, _ = self.run_form('heat', 'adsm', devices)
            self.assertEqual(result, same)
            # It sends the cells that were touched, and no blocks.
            self.assertLess(up, adsm_up)


if __name__ == '__main__':
    suite.main()
