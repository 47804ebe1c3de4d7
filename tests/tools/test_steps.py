#!/usr/bin/env python3
"""tools/lib/steps.sh: what the last line and exit status of check.sh say.

meson and ninja are replaced by small scripts; the counting is the real one.

test_steps.py SOURCE-ROOT
"""
import json
import os
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
GOOD = '{"name": "a", "result": "OK", "stdout": ' \
       '"100%: Checks: 4, Failures: 0, Errors: 0\\n"}'
BAD = '{"name": "b", "result": "FAIL", "stdout": ""}'
SKIP = '{"name": "c", "result": "SKIP", "stdout": "SKIP: no device\\n"}'


class Steps(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / 'bin').mkdir()
        (self.folder / 'd/main/meson-logs').mkdir(parents=True)
        (self.folder / 'd/main/build.ninja').touch()
        self.command('ninja', f'echo "$*" >>{self.folder}/made\nexit 0')
        self.command('meson', f'echo "$*" >>{self.folder}/asked\nexit 0')

    def command(self, name, text):
        path = self.folder / 'bin' / name
        path.write_text('#!/bin/sh\n' + text + '\n', encoding='utf-8')
        path.chmod(0o755)

    def meson_finds(self, *records, status=0):
        log = self.folder / 'records'
        log.write_text(''.join(line + '\n' for line in records),
                       encoding='utf-8')
        self.command('meson', f'echo "$*" >>{self.folder}/asked\n'
                     f'cp {log} {self.folder}/d/main/meson-logs/testlog.json\n'
                     f'exit {status}')

    def steps(self, script):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return subprocess.run(
            ['sh', '-uc', f'. tools/lib/steps.sh; steps_begin {self.folder}/d;'
             f'{script}; steps_end'], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, 'PATH': path}, check=False)

    def sums(self, script, line, status):
        run = self.steps(script)
        self.assertEqual(run.stdout.splitlines()[-1], line, run)
        self.assertEqual(run.returncode, status, run)
        return run.stdout

    def test_all_good_passes(self):
        self.meson_finds(GOOD)
        self.sums('steps_build main && steps_test main',
                  '4 passed, 0 failed, 0 skipped', 0)

    def test_one_failure_fails(self):
        self.meson_finds(GOOD, BAD, SKIP, status=1)
        out = self.sums('steps_test main', '4 passed, 1 failed, 1 skipped', 1)
        self.assertIn('FAILED b (FAIL)', out)
        self.assertIn('skipped c: no device', out)

    def test_runs_add_up(self):
        self.meson_finds(GOOD, SKIP)
        self.sums('steps_test main; steps_test main',
                  '8 passed, 0 failed, 2 skipped', 0)

    def test_nothing_run_fails(self):
        self.sums(':', '0 passed, 0 failed, 0 skipped', 1)

    def test_meson_without_a_log_fails(self):
        self.command('meson', 'exit 0')
        self.sums('steps_test main', '0 passed, 1 failed, 0 skipped', 1)

    def test_bad_status_without_a_failed_case_fails(self):
        self.meson_finds(GOOD, status=1)
        self.sums('steps_test main', '4 passed, 1 failed, 0 skipped', 1)

    def test_unreadable_log_fails(self):
        self.meson_finds('{"name"')
        self.sums('steps_test main', '0 passed, 1 failed, 0 skipped', 1)

    def test_compile_error_fails_and_is_shown(self):
        self.command('ninja', 'echo x.c:1: error: planted; exit 1')
        out = self.sums('steps_build main || true',
                        '0 passed, 1 failed, 0 skipped', 1)
        self.assertIn('x.c:1: error: planted', out)

    def test_suites_reach_meson(self):
        self.meson_finds(GOOD)
        self.steps('steps_test main unit --no-suite slow core')
        asked = (self.folder / 'asked').read_text(encoding='utf-8')
        self.assertIn('--suite unit --no-suite slow --suite core', asked)

    def test_slowest_are_named_before_the_sum(self):
        self.meson_finds(GOOD.replace('}', ', "duration": 12.34}'))
        out = self.sums('steps_test main; steps_slowest 20',
                        '4 passed, 0 failed, 0 skipped', 0)
        self.assertIn('    12.3 s  main  a\n', out)

    def test_a_build_folder_with_other_options_gets_these(self):
        self.steps('steps_build main -Da=1; steps_build main -Da=1;'
                   'steps_build main -Da=2')
        asked = (self.folder / 'asked').read_text(encoding='utf-8').splitlines()
        self.assertEqual([(line.split()[0], line.split()[-1])
                          for line in asked],
                         [('configure', '-Da=1'), ('configure', '-Da=2')])

    def test_what_tests_of_a_suite_need_is_made_and_no_more(self):
        info = self.folder / 'd/main/meson-info'
        info.mkdir()
        root = (self.folder / 'd/main').resolve()
        (info / 'intro-tests.json').write_text(json.dumps([
            {'name': 'a', 'suite': ['p:unit'], 'depends': ['x', 'l']},
            {'name': 'b', 'suite': ['p:unit', 'p:slow'], 'depends': ['y']},
            {'name': 'c', 'suite': ['q:core'], 'depends': ['z']}]),
            encoding='utf-8')
        (info / 'intro-targets.json').write_text(json.dumps([
            {'id': name, 'filename': [f'{root}/t/{name}'],
             'build_by_default': name in 'xu'}
            for name in 'xylzu']), encoding='utf-8')

        def made(words):
            self.steps(f'steps_build_for "{words}" main')
            made = self.folder / 'made'
            line = made.read_text(encoding='utf-8').splitlines()[-1]
            return [word for word in line.split() if word.startswith('t/')]

        self.assertEqual(made('unit'), ['t/x', 't/y', 't/l'])
        self.assertEqual(made('unit --no-suite slow'), ['t/x', 't/l'])
        self.assertEqual(made('--no-suite unit'), ['t/z'])
        self.assertEqual(made('q'), ['t/z'])
        self.assertEqual(made('--all q'), ['t/x', 't/z', 't/u'])

    def device(self, script, *records):
        """Output of a script in a small tree with a device of its own."""
        if not (self.folder / 'device').exists():
            (self.folder / 'device').mkdir()
            (self.folder / 'device/a.c').write_text('int a;\n',
                                                    encoding='utf-8')
            shutil.copytree(ROOT / 'tools/lib', self.folder / 'tools/lib')
            (self.folder / 'tools/softcuda.passed').write_text(
                'hashed device\n', encoding='utf-8')
        if records:
            self.meson_finds(*records)
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return subprocess.run(
            ['sh', '-uc', f'. tools/lib/steps.sh; steps_begin d; {script};'
             'steps_device_end; steps_end'], cwd=self.folder,
            capture_output=True, text=True, check=False,
            env={**os.environ, 'PATH': path}).stdout

    DEVICE = ('steps_device main; echo tests=$device; steps_test main;'
              'steps_device_passed main d/main/meson-logs/testlog.json')
    OWN = GOOD.replace('"a"', '"softcuda:softcuda / a"')

    def test_device_that_passed_is_not_tested_again_and_that_is_said(self):
        out = self.device(self.DEVICE, GOOD, self.OWN)
        self.assertIn('tests=enabled', out)
        self.assertIn('renewed: commit it', out)
        out = self.device(self.DEVICE, GOOD)
        self.assertIn('tests=disabled', out)
        self.assertIn('main: the software device\'s own tests were not run', out)
        self.assertNotIn('commit', out)
        self.assertEqual(out.splitlines()[-1], '4 passed, 0 failed, 1 skipped')

    def test_device_that_changed_is_tested_again(self):
        self.device(self.DEVICE, self.OWN)
        (self.folder / 'device/b.c').touch()
        out = self.device(self.DEVICE, GOOD,
                          self.OWN.replace('OK', 'FAIL'))
        self.assertIn('tests=enabled', out)
        self.assertIn('stays as it is: failed or skipped: a', out)
        self.assertIn('tests=enabled', self.device(self.DEVICE))

    def test_device_that_changes_while_it_is_tested_has_not_passed(self):
        self.device('steps_device main; echo x >>device/a.c; steps_test main;'
                    'steps_device_passed main d/main/meson-logs/testlog.json',
                    self.OWN)
        self.assertIn('tests=enabled', self.device(self.DEVICE))

    def test_device_is_tested_where_suites_are_named(self):
        self.device(self.DEVICE, self.OWN)
        out = self.device(self.DEVICE.replace('main;', 'main softcuda;', 1))
        self.assertIn('tests=enabled', out)
        self.assertNotIn('commit', out)  # there is nothing new in it

    def fuzzers(self, text, **others):
        self.command('clang', 'exit 0')
        folder = self.folder / 'd/fuzz/tests/fuzz'
        folder.mkdir(parents=True)
        (self.folder / 'd/fuzz/build.ninja').touch()
        self.targets = sorted((ROOT / 'tests/fuzz').glob('fuzz_*.c'))
        for path in self.targets:
            name = path.stem.removeprefix('fuzz_')
            target = folder / path.stem
            target.write_text('#!/bin/sh\n' + others.get(name, text) + '\n',
                              encoding='utf-8')
            target.chmod(0o755)

    def test_every_fuzz_target_that_finds_nothing_counts(self):
        self.fuzzers('echo "#9 DONE cov: 7"')
        self.sums('steps_fuzz 1',
                  f'{len(self.targets)} passed, 0 failed, 0 skipped', 0)

    def test_what_a_fuzz_target_found_fails_and_is_named(self):
        self.fuzzers('echo "#9 DONE cov: 7"',
                     options='echo "x.c:1:2: runtime error: planted"; exit 1')
        others = len(self.targets) - 1
        out = self.sums('steps_fuzz 1',
                        f'{others} passed, 1 failed, 0 skipped', 1)
        self.assertIn('options: FOUND: x.c:1:2: runtime error: planted', out)

    def test_without_libfuzzer_fuzzing_is_skipped(self):
        self.command('clang', 'exit 1')
        self.sums('steps_add 1 0 0; steps_fuzz 1',
                  '1 passed, 0 failed, 1 skipped', 0)


if __name__ == '__main__':
    suite.main()
