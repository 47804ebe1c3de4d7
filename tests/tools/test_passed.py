#!/usr/bin/env python3
"""tools/lib/passed.py: whatever changed is seen, and only what passed is noted.

test_passed.py SOURCE-ROOT
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
GOOD = {'name': 'p:slow+device / a', 'result': 'OK',
        'stdout': '100%: Checks: 4, Failures: 0, Errors: 0\n'}
OTHER = {'name': 'device:core / b', 'result': 'FAIL', 'stdout': ''}


class Passed(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.tree)
        (self.tree / 'device/deep').mkdir(parents=True)
        (self.tree / 'device/a.c').write_text('int a;\n', encoding='utf-8')
        (self.tree / 'device/deep/b.c').write_text('int b;\n',
                                                   encoding='utf-8')
        (self.tree / 'runtime.c').write_text('int r;\n', encoding='utf-8')
        self.list = self.tree / 'list'
        self.list.write_text('# why\nhashed device\n', encoding='utf-8')

    def call(self, *words, status=0):
        run = subprocess.run(
            [sys.executable, ROOT / 'tools/lib/passed.py', *words],
            cwd=self.tree, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, status, run)
        return run.stdout.strip()

    def renew(self, *tests, build='main', compiler='cc-1', status=0):
        log = self.tree / 'testlog.json'
        log.write_text(''.join(json.dumps(test) + '\n' for test in tests),
                       encoding='utf-8')
        return self.call('renew', 'list', build, compiler,
                         self.call('hash', 'list'), 'device', log,
                         status=status)

    def is_current(self, build='main', compiler='cc-1'):
        run = subprocess.run(
            [sys.executable, ROOT / 'tools/lib/passed.py', 'is-current', 'list',
             build, compiler], cwd=self.tree, capture_output=True, text=True,
            check=False)
        self.assertEqual(run.stderr, '')
        return run.returncode == 0

    def test_what_passed_is_current(self):
        self.assertFalse(self.is_current())
        self.renew(GOOD, OTHER)
        self.assertTrue(self.is_current())
        self.assertIn('# why\nhashed device\n',
                      self.list.read_text(encoding='utf-8'))

    def test_what_nothing_lists_changes_nothing(self):
        self.renew(GOOD)
        (self.tree / 'runtime.c').write_text('int s;\n', encoding='utf-8')
        self.assertTrue(self.is_current())

    def test_changed_new_removed_renamed_and_moved_are_seen(self):
        def changed(device):
            (device / 'deep/b.c').write_text('int c;\n', encoding='utf-8')

        def new(device):
            (device / 'deep/new.h').touch()

        def removed(device):
            (device / 'deep/b.c').unlink()

        def renamed(device):
            (device / 'a.c').rename(device / 'c.c')

        def moved(device):
            (device / 'a.c').rename(device / 'deep/a.c')

        def runnable(device):
            (device / 'a.c').chmod(0o755)

        # Where one file ends and the next begins.
        def cut_otherwise(device):
            (device / 'a.c').write_text('int ', encoding='utf-8')
            (device / 'deep/b.c').write_text('a;\nint b;\n', encoding='utf-8')

        self.renew(GOOD)
        kept = self.tree / 'kept'
        shutil.copytree(self.tree / 'device', kept)
        for change in (changed, new, removed, renamed, moved, runnable,
                       cut_otherwise):
            change(self.tree / 'device')
            self.assertFalse(self.is_current(), change.__name__)
            shutil.rmtree(self.tree / 'device')
            shutil.copytree(kept, self.tree / 'device')
            self.assertTrue(self.is_current(), change.__name__)

    def test_other_compilers_and_kinds_of_build_have_not_passed(self):
        self.renew(GOOD)
        self.assertFalse(self.is_current(compiler='cc-2'))
        self.assertFalse(self.is_current(build='asan'))
        self.renew(GOOD, build='asan')
        self.assertTrue(self.is_current())
        self.assertTrue(self.is_current(build='asan'))

    def test_what_passed_before_a_change_is_dropped(self):
        self.renew(GOOD)
        self.renew(GOOD, build='asan')
        (self.tree / 'device/a.c').write_text('int c;\n', encoding='utf-8')
        self.renew(GOOD)
        self.assertTrue(self.is_current())
        self.assertEqual(
            self.list.read_text(encoding='utf-8').count('\npassed '), 1)

    def test_failed_skipped_and_missing_tests_do_not_pass(self):
        for bad in ({**GOOD, 'result': 'FAIL'}, {**GOOD, 'result': 'TIMEOUT'},
                    {**GOOD, 'result': 'SKIP'},
                    {**GOOD, 'stdout': GOOD['stdout'] + 'Skipped: 1\n'}):
            why = self.renew(GOOD, {**bad, 'name': 'q:device+x / bad'}, status=1)
            self.assertEqual(why, 'failed or skipped: bad')
        self.assertEqual(self.renew(OTHER, status=1),
                         'none of its tests was run')
        self.assertFalse(self.is_current())

    def test_a_listed_folder_that_is_gone_is_an_error(self):
        (self.tree / 'device').rename(self.tree / 'moved')
        self.call('hash', 'list', status=1)

    def test_device_and_reader_of_ptx_are_listed(self):
        lines = (ROOT / 'tools/softcuda.passed').read_text(encoding='utf-8')
        listed = [ROOT / line.split()[1] for line in lines.splitlines()
                  if line.startswith('hashed ')]
        parts = [*ROOT.glob('ptx/parse.c'), *ROOT.glob('tools/*/ptx/parse.c'),
                 *ROOT.glob('tools/*/exec/launch.c'),
                 *ROOT.glob('tools/*/tests/opcodes/test_arithmetic.c')]
        self.assertEqual(len(parts), 3)
        for part in parts:
            self.assertTrue(any(part.is_relative_to(path) for path in listed),
                            f'{part} is not part of what is hashed')


if __name__ == '__main__':
    suite.main()
