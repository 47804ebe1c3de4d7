#!/usr/bin/env python3
"""An installed tree, in a folder that no build has heard of.

test_installed.py SOURCE-ROOT BUILD-ROOT COMPILER
                      what is built there, as it is
test_installed.py --build SOURCE-ROOT FOLDER COMPILER
                      the same of a build of its own, as few would have it
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'common'))
import suite  # noqa: E402

OWN = sys.argv[1] == '--build'
ROOT, BUILD = (pathlib.Path(word).resolve()
               for word in sys.argv[1 + OWN:3 + OWN])
COMPILER = sys.argv[3 + OWN].split()
del sys.argv[1:]


def run(*words, cwd=None, **extra):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_', 'MESON_'))}
    return subprocess.run([str(word) for word in words], cwd=cwd, text=True,
                          env={**env, **extra}, capture_output=True,
                          check=False, timeout=600)


def configure():
    """A build folder in which nothing is as usual."""
    shutil.rmtree(BUILD, ignore_errors=True)
    got = run('meson', 'setup', BUILD, ROOT, '--buildtype=plain',
              '-Dbench=false', '-Dtests=disabled', '-Dnvcc=disabled',
              '-Ddefault_library=static', '--prefix=/usr', '--libdir=lib64',
              '--includedir=include/of adsm', '--datadir=data')
    assert got.returncode == 0, got.stdout + got.stderr


FIRST = pathlib.Path(tempfile.mkdtemp()).resolve()


def setUpModule():
    """Install, into FIRST."""
    unittest.addModuleCleanup(shutil.rmtree, FIRST)
    if OWN:
        configure()
        got = run('ninja', '-j2', '-C', BUILD)
        assert got.returncode == 0, got.stdout[-4000:]
    got = run('meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet',
              '--destdir', FIRST)
    assert got.returncode == 0, got.stderr


class Tree(unittest.TestCase):
    """What is installed, in another folder."""
    NAME = 'moved'

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree = self.folder / self.NAME
        program = next(FIRST.rglob('bin/adsm-run'))
        shutil.copytree(program.parent.parent, self.tree, symlinks=True,
                        copy_function=os.link)
        self.libs = next(self.tree.rglob('libadsm.so.0')).parent
        self.run = self.tree / 'bin/adsm-run'
        # CMake by itself looks only where libraries are on this system.
        self.found = {'adsm_DIR': str(next(self.tree.rglob('cmake/adsm')))} \
            if OWN else {'CMAKE_PREFIX_PATH': str(self.tree)}

    def compiled(self, name, text, *words):
        """A program's path."""
        source = self.folder / f'{name}.c'
        source.write_text(text, encoding='utf-8')
        got = run(*COMPILER, source, '-o', self.folder / name, *words)
        self.assertEqual(got.returncode, 0, got.stderr)
        return self.folder / name

    def library(self, folder, name, text='int nothing;'):
        """One that has nothing of what is wanted, but its name."""
        (self.folder / folder).mkdir(exist_ok=True)
        return self.compiled(f'{folder}/{name}', text, '-shared', '-fPIC',
                             f'-Wl,-soname,{name}')


class Moved(Tree):
    def counts_three(self, program):
        got = run(self.run, '--soft=3', program)
        if ' ' in self.NAME and 'RPATH' in got.stderr:
            # The loader cannot be told: so it is said.
            self.assertIn('(RPATH)', run(
                'readelf', '-d', program).stdout)
            self.assertIn('have a space in their name', got.stderr)
        else:
            self.assertEqual((got.stdout, got.stderr, got.returncode),
                             ('3\n', '', 0))

    def test_no_text_names_a_folder_of_the_first_place(self):
        prefixes = [str(BUILD), str(ROOT), str(FIRST)]
        looked_at = 0
        for path in self.tree.rglob('*'):
            if path.suffix in ('.pc', '.cmake', '.py', '.h') or \
                    path.name in ('adsm-ptx', 'adsm-trace'):
                text = path.read_text(encoding='utf-8')
                looked_at += 1
                for prefix in prefixes:
                    self.assertNotIn(prefix, text, path)
        self.assertGreater(looked_at, 8)
        pc = next(self.tree.rglob('libadsm.pc')).read_text(encoding='utf-8')
        self.assertEqual(re.findall(r'=(?!\$\{pcfiledir\})', pc), [])

    def test_what_a_user_does_works(self):
        pkgconfig = next(self.tree.rglob('pkgconfig'))
        got = run(HERE / 'try_installed.sh', ROOT / 'docs/examples',
                  PATH=f'{self.tree}/bin:{os.environ["PATH"]}',
                  MANPATH=str(next(self.tree.rglob('man1')).parent),
                  PKG_CONFIG_PATH=str(pkgconfig), CC=' '.join(COMPILER),
                  **self.found)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        for line in got.stdout.splitlines():
            if line.startswith('skipped'):
                print(line)
        self.assertGreater(got.stdout.count('works: '), 1, got.stdout)

    def test_every_function_has_a_page(self):
        pages = next(self.tree.rglob('man3'))
        for name in ('adsmAlloc', 'adsmCall', 'adsmVal', 'adsmBoxed',
                     'adsmReduce', 'adsmPer'):
            self.assertTrue((pages / f'{name}.3').exists(), name)
        declared = set()
        for header in 'adsm.h', 'adsm_skeleton.h':
            text = next(self.tree.rglob(header)).read_text(encoding='utf-8')
            declared |= set(re.findall(r'^ADSM_API[^;]*?\b(adsm\w+)\(', text,
                                       re.M))
        self.assertGreater(len(declared), 30)
        text = (pages / 'adsm.3').read_text(encoding='utf-8')
        for name in declared:
            self.assertTrue((pages / f'{name}.3').exists(), name)
            self.assertRegex(text, rf'(?m)^\.SS .*\b{name}\b')

    def test_completion_is_where_shells_look(self):
        bash = next(self.tree.rglob('bash-completion/completions'))
        for name in 'adsm-run', 'adsm-info', 'adsm-trace', 'adsm-bench':
            self.assertIn('complete -F', (bash / name).read_text())
        zsh = next(self.tree.rglob('zsh/site-functions/_adsm')).read_text()
        self.assertTrue(zsh.startswith('#compdef adsm-run '))

    def test_cmake_refuses_what_does_not_fit(self):
        if not shutil.which('cmake'):
            self.skipTest('cmake is not installed')
        project = self.folder / 'project'
        project.mkdir()

        def find(version):
            (project / 'CMakeLists.txt').write_text(
                'cmake_minimum_required(VERSION 3.10)\nproject(x C)\n'
                f'find_package(adsm {version} REQUIRED)\n')
            shutil.rmtree(project / 'b', ignore_errors=True)
            return run('cmake', '-S', project, '-B', project / 'b',
                       **self.found)
        for version in '', '0.1', '0.1.0 EXACT', '0':
            self.assertEqual(find(version).returncode, 0, version)
        for version in '0.2', '1.0', '0.1.1', '0.0.9':
            self.assertNotEqual(find(version).returncode, 0, version)
        next(self.tree.rglob('libadsm.so')).unlink()
        got = find('')
        self.assertNotEqual(got.returncode, 0)
        self.assertIn('there is no', got.stderr)
        self.assertIn('libadsm.so', got.stderr)

    def test_ptx_says_what_is_wrong(self):
        for words, status, text in (
                ([], 2, 'usage: '),
                (['none.cu', 'none.ptx'], 2, "cannot read 'none.cu'")):
            got = run(self.tree / 'bin/adsm-ptx', *words, cwd=self.folder)
            self.assertEqual(got.returncode, status)
            self.assertIn(text, got.stderr)
        kernel = self.folder / 'k.cu'
        kernel.write_text('')
        got = run(self.tree / 'bin/adsm-ptx', kernel, 'k.ptx',
                  cwd=self.folder, CLANG='true')
        self.assertEqual(got.returncode, 2)
        self.assertIn('not clang 14', got.stderr)

    def test_a_program_finds_the_library_that_its_runner_has(self):
        """Where the loader would find none, or one of another version."""
        include = next(self.tree.rglob('adsm.h')).parent
        for way in [], ['-Wl,-rpath,', '-Wl,--enable-new-dtags'], \
                ['-Wl,-rpath,', '-Wl,--disable-new-dtags']:
            other = self.library('other', 'libadsm.so.0')
            words = [word + str(other.parent) if word.endswith(',') else word
                     for word in way]
            program = self.compiled(
                'count', '#include <adsm.h>\n#include <stdio.h>\nint main('
                'void)\n{\n    return printf("%d\\n", adsmDeviceCount()) < 0;'
                '\n}\n', f'-I{include}', f'-L{self.libs}', '-ladsm', *words)
            self.assertNotEqual(run(program).returncode, 0)
            self.counts_three(program)

    def test_soft_wins_over_folders_that_the_program_names(self):
        soft = next(self.tree.rglob('libcuda.so.1'))
        code = ('int cuInit(unsigned);\nint cuDeviceGetCount(int *);\n'
                '#include <stdio.h>\nint main(void)\n{\n    int n = 0;\n'
                '    cuInit(0);\n    cuDeviceGetCount(&n);\n'
                '    return printf("%d\\n", n) < 0;\n}\n')
        other = self.library('other', 'libcuda.so.1',
                             'int cuInit(unsigned x) { return 1; }\n'
                             'int cuDeviceGetCount(int *n) { return 1; }\n')
        for tags in '--disable-new-dtags', '--enable-new-dtags':
            program = self.compiled('count', code, soft,
                                    f'-Wl,-rpath,{other.parent}',
                                    f'-Wl,{tags}')
            self.assertEqual(run(program).stdout, '0\n')
            self.counts_three(program)

    def test_no_libraries_are_static(self):
        self.assertEqual(list(self.tree.rglob('*.a')), [])


class MovedToSpaces(Moved):
    NAME = 'a moved tree'


class Linked(Tree):
    def test_tools_may_be_started_by_a_link(self):
        link = self.folder / 'run'
        link.symlink_to(self.run)
        got = run(link, '--soft=2', self.tree / 'bin/adsm-info', '--devices')
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(got.stdout.count('softcuda device'), 2)

    def test_without_the_software_device_that_is_said(self):
        shutil.rmtree(self.libs / 'softcuda')
        got = run(self.run, '--soft', 'true')
        self.assertEqual(got.returncode, 125)
        self.assertEqual(got.stderr.count('\n'), 1, got.stderr)
        self.assertIn("libcuda.so.1 is not beside this adsm-run", got.stderr)

    def test_without_python_and_gdb_programs_run(self):
        shutil.rmtree(next(self.tree.rglob('adsm-gdb.py')).parent)
        got = run(self.run, '--soft', 'echo', 'ran')
        self.assertEqual((got.stdout, got.stderr, got.returncode),
                         ('ran\n', '', 0))


if __name__ == '__main__':
    suite.main()
