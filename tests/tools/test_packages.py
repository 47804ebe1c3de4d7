#!/usr/bin/env python3
"""tools/lib/packages.sh with the system's commands replaced by small ones.

test_packages.py SOURCE-ROOT
"""
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
NEEDED = ('sh', 'awk', 'tr', 'dirname', 'tail', 'mktemp', 'rm', 'cat', 'env')
LIST = 'build  alpha  first\nbuild  beta  second\ncheck  gamma  third\n'


class Packages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.bin = self.folder / 'bin'
        self.bin.mkdir()
        for name in NEEDED:
            (self.bin / name).symlink_to(shutil.which(name))
        (self.folder / 'list').write_text(LIST, encoding='utf-8')
        self.installed(['gamma'])
        self.command('id', 'echo 0')
        self.command('apt-get', f'echo "$*" >>{self.folder}/apt')

    def command(self, name, text):
        path = self.bin / name
        path.write_text('#!/bin/sh\n' + text + '\n', encoding='utf-8')
        path.chmod(0o755)

    def installed(self, names):
        words = '|'.join(names) or '-'
        self.command('status', f'case $1 in {words}) exit 0;; esac; exit 1')

    def install(self, *groups, **extra):
        env = {'PATH': str(self.bin), 'TMPDIR': str(self.folder),
               'PACKAGES_LIST': str(self.folder / 'list'),
               'PACKAGES_STATUS': 'status', **extra}
        script = f'. {ROOT}/tools/lib/packages.sh; packages_install "$@"'
        return subprocess.run(
            [self.bin / 'sh', '-c', script, str(ROOT / 'tools/x'), *groups],
            env=env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False)

    def asked_of_apt(self):
        path = self.folder / 'apt'
        return path.read_text(encoding='utf-8') if path.exists() else ''

    def test_all_installed_installs_nothing(self):
        self.installed(['alpha', 'beta'])
        run = self.install('build')
        self.assertEqual(run.returncode, 0, run)
        self.assertIn('everything needed (build) is installed', run.stdout)
        self.assertEqual(self.asked_of_apt(), '')

    def test_root_installs_what_is_missing(self):
        run = self.install('build', 'check')
        self.assertEqual(run.returncode, 0, run)
        self.assertIn('installing with apt-get: alpha beta\n', run.stdout)
        self.assertIn('install -y -q --no-install-recommends alpha beta\n',
                      self.asked_of_apt())

    def test_dry_run_changes_nothing(self):
        run = self.install('build', PACKAGES_DRY_RUN='1')
        self.assertEqual(run.returncode, 0, run)
        self.assertIn('alpha beta', run.stdout)
        self.assertEqual(self.asked_of_apt(), '')

    def test_user_with_sudo_does_not_prompt_without_terminal(self):
        self.command('id', 'echo 1000')
        self.command('sudo', f'printf "%s\\n" "$1" >>{self.folder}/sudo; '
                             'shift; exec env "$@"')
        run = self.install('build')
        self.assertEqual(run.returncode, 0, run)
        self.assertEqual((self.folder / 'sudo').read_text(encoding='utf-8'),
                         '-n\n-n\n')
        self.assertIn('alpha beta', self.asked_of_apt())

    def test_user_without_sudo_is_told_what_to_do(self):
        self.command('id', 'echo 1000')
        run = self.install('build')
        self.assertEqual(run.returncode, 1, run)
        self.assertIn('missing: alpha beta; installing needs root', run.stderr)
        self.assertIn('apt-get install alpha beta', run.stderr)
        self.assertEqual(self.asked_of_apt(), '')

    def test_no_apt_lists_what_is_needed_and_goes_on(self):
        (self.bin / 'apt-get').unlink()
        run = self.install('build')
        self.assertEqual(run.returncode, 0, run)
        self.assertIn('no apt-get here', run.stdout)
        self.assertIn('alpha beta', run.stdout)

    def test_failing_apt_shows_its_words(self):
        self.command('apt-get', 'echo E: no such package beta; exit 100')
        run = self.install('build')
        self.assertEqual(run.returncode, 1, run)
        self.assertIn('E: no such package beta', run.stderr)
        self.assertIn('could not install: alpha beta', run.stderr)

    def test_list_file_is_well_formed(self):
        rows = [line.split(None, 2) for line in
                (ROOT / 'tools/packages').read_text(encoding='utf-8')
                .splitlines() if line and not line.startswith('#')]
        self.assertTrue(all(len(row) == 3 for row in rows))
        self.assertEqual({row[0] for row in rows},
                         {'build', 'check', 'cross', 'faster', 'figures',
                          'package'})
        names = [row[1] for row in rows]
        self.assertEqual(len(names), len(set(names)))


class Environment(unittest.TestCase):
    def test_script_is_plain_sh(self):
        shell = shutil.which('dash') or '/bin/sh'
        for name in ('check.sh', 'quickstart.sh', 'lib/packages.sh',
                     'lib/steps.sh'):
            path = ROOT / 'tools' / name
            self.assertEqual(os.system(f'{shell} -n {path}'), 0, name)


if __name__ == '__main__':
    suite.main()
