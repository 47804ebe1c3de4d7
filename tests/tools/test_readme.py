#!/usr/bin/env python3
"""README and manual pages say what the code does.

test_readme.py SOURCE-ROOT BUILD-ROOT [C-COMPILER]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

ROOT = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
COMPILER = sys.argv[3] if len(sys.argv) > 3 else 'cc'
del sys.argv[1:]
README = (ROOT / 'README.md').read_text(encoding='utf-8')
TOOLS = BUILD / 'tools'


def block(language):
    """The first fenced block of README in this language."""
    return re.search(rf'^```{language}\n(.*?)^```', README, re.M | re.S)[1]


def run(*words, cwd=None, **extra):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_'))}
    return subprocess.run([str(word) for word in words], cwd=cwd, text=True,
                          env={**env, **extra}, capture_output=True,
                          check=False, timeout=120)


class Example(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_kernel_is_the_one_the_test_uses(self):
        kernel = self.folder / 'scale.cu'
        kernel.write_text(block('cuda'), encoding='utf-8')
        got = run(ROOT / 'tools/ptx.sh', '--check', kernel,
                  ROOT / 'docs/examples/scale.ptx')
        if got.returncode == 77:
            self.skipTest(got.stderr.strip())
        self.assertEqual(got.returncode, 0, got.stderr)

    def test_program_compiles_and_prints_what_readme_says(self):
        (self.folder / 'scale.c').write_text(block('c'), encoding='utf-8')
        shutil.copy(ROOT / 'docs/examples/scale.ptx',
                    self.folder / 'scale.ptx')
        library = BUILD / 'libadsm'
        got = run(*COMPILER.split(), '-Wall', '-Wextra', '-Werror', 'scale.c',
                  '-I', ROOT / 'libadsm', '-L', library, '-ladsm',
                  f'-Wl,-rpath,{library}', '-o', 'scale', cwd=self.folder)
        self.assertEqual(got.returncode, 0, got.stderr)
        for protocol in ('batch', 'lazy', 'rolling'):
            got = run('./scale', cwd=self.folder, ADSM_PROTOCOL=protocol,
                      LD_LIBRARY_PATH=str(TOOLS / 'softcuda'))
            self.assertEqual((got.returncode, got.stdout, got.stderr),
                             (0, block('text'), ''), protocol)


def cxx_compiler():
    """Words that compile and link C++ here, or None."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'probe.cc'
        source.write_text('#include <stdio.h>\nint main() { return 0; }\n',
                          encoding='utf-8')
        for words in ['c++'], ['clang', '-x', 'c++']:
            if shutil.which(words[0]) and run(
                    *words, source, '-o', f'{folder}/p').returncode == 0:
                return words
    return None


class ExampleInCxx(Example):
    """The same program in C++, also launched with its dimensions."""
    test_kernel_is_the_one_the_test_uses = None
    test_program_compiles_and_prints_what_readme_says = None

    def test_program_compiles_without_a_warning_and_does_the_same(self):
        words = cxx_compiler()
        if not words:
            self.skipTest('no C++ compiler here')
        text = block('c').replace('= adsmAlloc(', '= (float *)adsmAlloc(')
        call = 'adsmCall(scale, n, adsmInOut(x), adsmVal(factor));'
        launch = ('adsmLaunch(scale, adsmDim1((n + 255) / 256), adsmDim2(256, '
                  '1), 0, adsmVal(0L), adsmVal(n), adsmInOut(x), '
                  'adsmVal(factor));')
        self.assertIn(call, text)
        (self.folder / 'scale.ptx').write_text(
            (ROOT / 'docs/examples/scale.ptx').read_text())
        library = BUILD / 'libadsm'
        for body in text, text.replace(call, launch):
            (self.folder / 'scale.cc').write_text(body, encoding='utf-8')
            got = run(*words, '-std=c++11', '-Wall', '-Wextra', '-Werror',
                      '-pedantic', 'scale.cc', '-I', ROOT / 'libadsm', '-L',
                      library, '-ladsm', f'-Wl,-rpath,{library}', '-o',
                      'scale', cwd=self.folder)
            self.assertEqual(got.returncode, 0, got.stderr)
            got = run('./scale', cwd=self.folder,
                      LD_LIBRARY_PATH=str(TOOLS / 'softcuda'))
            self.assertEqual((got.returncode, got.stdout, got.stderr),
                             (0, block('text'), ''))


class Newcomer(unittest.TestCase):
    """tools/quickstart.sh, and then the page from its top."""
    COMMAND = re.compile(r'^ {4}(?:\$ )?((?:tools/ptx\.sh|cc|build/|'
                         r'LD_LIBRARY_PATH=)[^\n]*)$', re.M)

    def setUp(self):
        if not (BUILD / 'bench/wave/adsm-wave').exists():
            self.skipTest('the wave programs need libpng')
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def quickstart(self):
        """What it has ninja build in BUILD, as a set of files there."""
        ninja = shutil.which('ninja')
        spy = self.folder / 'ninja'
        spy.write_text(f'#!/bin/sh\necho "$*" >>"$0.log"\n'
                       f'exec {ninja} "$@"\n')
        spy.chmod(0o755)
        got = run(ROOT / 'tools/quickstart.sh', BUILD, PACKAGES_DRY_RUN='1',
                  PATH=f'{self.folder}:{os.environ["PATH"]}')
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        words = (self.folder / 'ninja.log').read_text().split()
        self.assertEqual(words[:2], ['-C', str(BUILD)])
        query = run(ninja, '-C', BUILD, '-t', 'query', *words[2:]).stdout
        below = re.findall(r'^    (?:\|\|? )?(\S+)$',
                           re.sub(r'(?m)^  outputs:\n(    .*\n)*', '', query),
                           re.M)
        return {os.path.realpath(BUILD / name)
                for name in [*words[2:], *below]}

    def test_quickstart_builds_what_is_installed_and_what_the_pages_name(self):
        made = self.quickstart()
        listed = json.loads(run('meson', 'introspect', '--installed',
                                BUILD).stdout)
        wanted = {name for name in listed if name.startswith(f'{BUILD}/')
                  and os.access(name, os.X_OK)}
        for page in ('README.md', 'tools/softcuda/README.md',
                     'bench/wave/README.md', 'bench/parboil/README.md',
                     'docs/hardware.md', 'docs/figures.md', 'docs/design.md'):
            text = (ROOT / page).read_text(encoding='utf-8')
            wanted |= {str(BUILD / name) for name
                       in re.findall(r'\bbuild/([\w./-]*\w)', text)}
        wanted = {os.path.realpath(name) for name in wanted
                  if not name.endswith('.png')}
        self.assertGreater(len(wanted), 12, wanted)
        self.assertEqual([name for name in wanted if name not in made
                          and not os.path.isdir(name)], [])

    def checkout(self):
        """A folder that looks like the tree after quickstart."""
        for entry in ROOT.iterdir():
            if not entry.name.startswith(('build', '.git')):
                (self.folder / entry.name).symlink_to(entry)
        (self.folder / 'build').symlink_to(BUILD)
        for language in 'c', 'cuda':
            suffix = {'c': 'c', 'cuda': 'cu'}[language]
            (self.folder / f'scale.{suffix}').write_text(block(language))
        (self.folder / 'your-cuda-program').symlink_to(shutil.which('true'))

    def test_commands_of_the_page_work_in_its_order(self):
        self.checkout()
        text = README[:README.index('## Building and installing by hand')]
        commands = self.COMMAND.findall(text)
        self.assertGreater(len(commands), 4, commands)
        printed = []
        for command in commands:
            got = run('sh', '-c', command, cwd=self.folder,
                      PWD=str(self.folder))
            if command.startswith('tools/ptx.sh') and got.returncode == 77:
                shutil.copy(ROOT / 'docs/examples/scale.ptx',
                            self.folder / 'scale.ptx')
                continue
            self.assertEqual(got.returncode, 0, f'{command}: {got}')
            if command.startswith('LD_LIBRARY_PATH='):
                printed.append(got.stdout)
        self.assertEqual(printed, re.findall(r'^```text\n(.*?)^```', text,
                                             re.M | re.S))

    def test_program_of_nvcc_runs_as_the_page_says(self):
        nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
        if not os.access(nvcc, os.X_OK):
            self.skipTest('nvcc is not installed')
        self.checkout()
        shutil.copy(ROOT / 'tests/cuda/vecadd.cu', self.folder / 'prog.cu')
        shutil.copy(ROOT / 'tests/cuda/program.h', self.folder)
        command = re.search(r'`(nvcc -cudart shared [^`]*)`', README)[1]
        got = run('sh', '-c', command, cwd=self.folder,
                  PATH=f'{os.path.dirname(nvcc)}:{os.environ["PATH"]}')
        self.assertEqual(got.returncode, 0, got)
        for command in ('build/tools/adsm-run --soft ./a.out',
                        'LD_LIBRARY_PATH=build/tools/softcuda ./a.out'):
            got = run('sh', '-c', command, cwd=self.folder)
            self.assertEqual((got.returncode, got.stderr), (0, ''), command)


class Counters(unittest.TestCase):
    def test_counters_are_those_readme_shows(self):
        program = BUILD / 'bench/wave/wave_ported'
        if not program.exists():
            self.skipTest('the wave programs need libpng')
        with tempfile.TemporaryDirectory() as folder:
            got = run(TOOLS / 'adsm-run', '--soft', '--stats', program,
                      cwd=folder, ADSM_FETCH_AHEAD='sequential')
        counter = re.compile(r'^ *libadsm: +(\w+) +([\d.]+(?: \w+)?)  ', re.M)
        shown = dict(counter.findall(README))
        printed = dict(counter.findall(got.stderr))
        self.assertGreater(len(shown), 8)
        self.assertEqual(shown, {name: value for name, value in printed.items()
                                 if not name.startswith('ns_')})


class Documents(unittest.TestCase):
    def test_option_tables_are_current(self):
        got = run(ROOT / 'tools/lib/option_docs.py', '--check',
                  TOOLS / 'adsm-info', ROOT / 'README.md',
                  ROOT / 'docs/man/libadsm.7')
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)

    def test_stale_option_table_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / 'README.md'
            copy.write_text(README.replace('| `ADSM_PROTOCOL` | rolling |',
                                           '| `ADSM_PROTOCOL` | batch |'),
                            encoding='utf-8')
            got = run(ROOT / 'tools/lib/option_docs.py', '--check',
                      TOOLS / 'adsm-info', copy)
        self.assertEqual(got.returncode, 1, got)
        self.assertIn('not current', got.stdout)

    def test_links_lead_to_files(self):
        for name in ('README.md', 'docs/design.md', 'docs/hardware.md',
                     'tools/softcuda/README.md', 'docs/measured.md',
                     'docs/figures.md', 'bench/parboil/README.md'):
            text = (ROOT / name).read_text(encoding='utf-8')
            for link in re.findall(r'\]\(([^)#:]+)\)', text):
                self.assertTrue((ROOT / name).parent.joinpath(link).exists(),
                                f'{name}: {link}')

    def test_manual_of_adsm_run_names_its_flags(self):
        flags = re.findall(r'^  (--[a-z-]+)', run(TOOLS / 'adsm-run',
                                                  '--help').stdout, re.M)
        self.assertGreater(len(flags), 8)
        self.manual_names('adsm-run.1', flags)

    def test_manual_of_adsm_info_names_its_sections(self):
        flags = re.findall(r'^  (--[a-z-]+)', run(TOOLS / 'adsm-info',
                                                  '--help').stdout, re.M)
        self.assertGreater(len(flags), 4)
        self.manual_names('adsm-info.1',
                          [flag for flag in flags
                           if flag not in ('--help', '--version')])

    def manual_names(self, page, flags):
        text = (ROOT / 'docs/man' / page).read_text(encoding='utf-8')
        for flag in flags:
            self.assertIn(flag.replace('-', '\\-'), text, page)

    def test_layout_section_names_the_folders(self):
        for room in ('libadsm', 'protocols', 'interpose', 'tools', 'bench',
                     'tests', 'docs'):
            self.assertIn(f'\n    {room}/ ', README)
            self.assertTrue((ROOT / room).is_dir())


if __name__ == '__main__':
    suite.main()
