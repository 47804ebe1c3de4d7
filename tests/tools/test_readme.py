#!/usr/bin/env python3
"""README and manual pages say what the code does.

test_readme.py SOURCE-ROOT BUILD-ROOT [C-COMPILER]
"""
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
                  ROOT / 'tests/tools/readme_scale.ptx')
        if got.returncode == 77:
            self.skipTest(got.stderr.strip())
        self.assertEqual(got.returncode, 0, got.stderr)

    def test_program_compiles_and_prints_what_readme_says(self):
        (self.folder / 'scale.c').write_text(block('c'), encoding='utf-8')
        shutil.copy(ROOT / 'tests/tools/readme_scale.ptx',
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
            (ROOT / 'tests/tools/readme_scale.ptx').read_text())
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


class Counters(unittest.TestCase):
    def test_counters_are_those_readme_shows(self):
        program = BUILD / 'bench/wave/wave_ported'
        if not program.exists():
            self.skipTest('the wave programs need libpng')
        with tempfile.TemporaryDirectory() as folder:
            got = run(TOOLS / 'adsm-run', '--soft', '--stats', program,
                      cwd=folder)
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
