#!/usr/bin/env python3
"""The software device is a project of its own, and the whole spares its tests.

test_softcuda_alone.py SOURCE-ROOT
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()


def output(*words):
    """What the command prints; its failure is ours."""
    got = subprocess.run([str(word) for word in words], text=True, timeout=300,
                         capture_output=True, check=False)
    assert got.returncode == 0, got.stdout[-2000:] + got.stderr[-2000:]
    return got.stdout


class Alone(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def configured(self, source, *options):
        """(names of targets, projects and names of tests) of a new build."""
        build = self.folder / 'build'
        output('meson', 'setup', build, source, *options)
        tests = json.loads(output('meson', 'introspect', '--tests', build))
        targets = json.loads(output('meson', 'introspect', '--targets', build))
        return ({target['name'] for target in targets},
                {(test['suite'][0].split(':')[0], test['name'])
                 for test in tests})

    def test_copy_of_its_folder_is_a_project_with_tests(self):
        copy = self.folder / 'copy'
        shutil.copytree(ROOT / 'tools/softcuda', copy)
        targets, tests = self.configured(copy, '-Dtests=enabled')
        self.assertLessEqual({'cuda', 'softcuda-device'}, targets)
        self.assertGreater(len(tests), 50)
        output('ninja', '-C', self.folder / 'build', 'native/abi.inc',
               'tests/opcodes/test_opcodes_reference')

    def test_whole_has_the_device_but_not_its_tests(self):
        targets, tests = self.configured(ROOT, '-Dtests=enabled')
        self.assertLessEqual({'cuda', 'softcuda-device', 'adsm-run'}, targets)
        self.assertIn(('libadsm', 'limits'), tests)
        self.assertFalse([test for test in tests if test[0] == 'softcuda'])
        self.assertFalse([name for name in targets if 'test_softcuda' in name])

    def test_whole_has_its_tests_when_asked(self):
        _, tests = self.configured(ROOT, '-Dtests=enabled',
                                   '-Dsoftcuda:tests=enabled')
        self.assertIn(('softcuda', 'driver_memory'), tests)


if __name__ == '__main__':
    suite.main()
