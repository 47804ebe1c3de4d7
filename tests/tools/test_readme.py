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
EXAMPLES = ROOT / 'docs/examples'
TOOLS = BUILD / 'tools'


def page(name):
    return (ROOT / name).read_text(encoding='utf-8')


README = page('README.md')
PRELOAD = page('docs/preload.md')
# Where people read, and where links and commands have to be right.
PAGES = [str(path.relative_to(ROOT)) for folder in ('', 'docs', 'tools', 'bench')
         for path in sorted((ROOT / folder).glob('**/*.md' if folder in
                                                 ('tools', 'bench')
                                                 else '*.md'))]


def blocks(language):
    """README's fenced blocks in this language."""
    return re.findall(rf'^```{language}\n(.*?)^```', README, re.M | re.S)


def rows_of(text, head):
    """{first cell: the others} of the table that begins with this line."""
    lines = text[text.index('\n' + head) + 1:].splitlines()[2:]
    end = next((i for i, line in enumerate(lines) if not line.startswith('|')),
               len(lines))
    cells = [[cell.strip() for cell in line.strip('|').split('|')]
             for line in lines[:end]]
    return {first: others for first, *others in cells}


def nvcc():
    """Its folder, or None."""
    for folder in [*os.environ['PATH'].split(':'), '/usr/local/cuda/bin']:
        if os.access(f'{folder}/nvcc', os.X_OK):
            return folder
    return None


def run(*words, cwd=None, **extra):
    return subprocess.run([str(word) for word in words], cwd=cwd, text=True,
                          env={**suite.plain_environment(), **extra}, capture_output=True,
                          check=False, timeout=120)


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_code_of_the_page_is_theirs(self):
        for language, names in (('cuda', ('first.cu', 'scale.cu')),
                                ('c', ('scale.c', 'scale_all.c'))):
            codes = blocks(language)
            self.assertEqual(len(codes), len(names))
            for code, name in zip(codes, names):
                for piece in code.split('    ...\n'):
                    self.assertIn(piece, (EXAMPLES / name).read_text())

    def build(self, words, source):
        """The program, made without a warning."""
        library = BUILD / 'libadsm'
        program = self.folder / 'program'
        got = run(*words, '-Wall', '-Wextra', '-Werror', source, '-I',
                  ROOT / 'libadsm', '-L', library, '-ladsm',
                  f'-Wl,-rpath,{library}', '-o', program)
        self.assertEqual(got.returncode, 0, got.stderr)
        return program

    def check(self, program, wanted, **extra):
        got = run(program, cwd=ROOT, SOFTCUDA_DEVICES='2', **extra,
                  LD_LIBRARY_PATH=str(TOOLS / 'softcuda'))
        self.assertEqual((got.returncode, got.stdout, got.stderr),
                         (0, wanted, ''), extra)

    def test_programs_print_what_the_page_says(self):
        for name, wanted in zip(('scale', 'scale_all'), blocks('text')[1:]):
            program = self.build(COMPILER.split(), EXAMPLES / f'{name}.c')
            for protocol in ('batch', 'lazy', 'rolling'):
                self.check(program, wanted, ADSM_PROTOCOL=protocol)


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


class ExampleInCxx(Examples):
    """scale.c in C++, also launched with its dimensions."""
    test_code_of_the_page_is_theirs = None
    test_programs_print_what_the_page_says = None

    def test_program_compiles_without_a_warning_and_does_the_same(self):
        words = cxx_compiler()
        if not words:
            self.skipTest('no C++ compiler here')
        text = (EXAMPLES / 'scale.c').read_text()
        text = text.replace('= adsmAlloc(', '= (float *)adsmAlloc(')
        call = 'adsmCall(scale, n, adsmInOut(x), adsmVal(factor))'
        launch = ('adsmLaunch(scale, adsmDim1((n + 255) / 256), adsmDim2(256, '
                  '1), 0, adsmVal(0L), adsmVal(n), adsmInOut(x), '
                  'adsmVal(factor))')
        self.assertIn(call, text)
        source = self.folder / 'scale.cc'
        for body in text, text.replace(call, launch):
            source.write_text(body, encoding='utf-8')
            self.check(self.build([*words, '-std=c++11', '-pedantic'], source),
                       blocks('text')[1])


class Newcomer(unittest.TestCase):
    """tools/quickstart.sh, and then the page from its top."""
    STEP = re.compile(r'^ {4}((?:tools/ptx\.sh|cc|nvcc|build/|'
                      r'LD_LIBRARY_PATH=)[^\n]*)$|^```text\n(.*?)^```',
                      re.M | re.S)

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
        plan = json.loads(run('meson', 'introspect', '--install-plan',
                              BUILD).stdout)
        listed = plan['targets']
        made |= set(plan['configure']) # by meson itself
        wanted = {name for name in listed if name.startswith(f'{BUILD}/')
                  and os.access(name, os.X_OK)}
        made_by_hand = set(re.findall(r' -o build/([\w./-]*\w)', README))
        for name in PAGES:
            wanted |= {str(BUILD / name) for name
                       in re.findall(r'\bbuild/([\w./-]*\w)', page(name))
                       if name not in made_by_hand}
        wanted = {os.path.realpath(name) for name in wanted}
        self.assertGreater(len(wanted), 12, wanted)
        self.assertEqual([name for name in wanted if name not in made
                          and not os.path.isdir(name)], [])

    def checkout(self):
        """A folder that looks like the tree after quickstart."""
        for entry in ROOT.iterdir():
            if not entry.name.startswith(('build', '.git', 'docs')):
                (self.folder / entry.name).symlink_to(entry)
        # Where commands write.
        shutil.copytree(EXAMPLES, self.folder / 'docs/examples')
        (self.folder / 'build').mkdir()
        for entry in BUILD.iterdir():
            (self.folder / 'build' / entry.name).symlink_to(entry)
        (self.folder / 'your-cuda-program').symlink_to(shutil.which('true'))

    def follow(self, text):
        """Do what a page says, in its order; compare what it shows. Return:
        how many commands that were."""
        done = 0
        printed = None
        for command, shown in self.STEP.findall(text):
            if not command:
                self.assertIn(printed, (None, shown))
                continue
            printed = None
            if not nvcc() and ('nvcc' in command or 'build/first' in command):
                continue
            got = run('sh', '-c', command, cwd=self.folder,
                      PWD=str(self.folder),
                      PATH=f'{os.environ["PATH"]}:{nvcc()}')
            if command.startswith('tools/ptx.sh') and got.returncode == 77:
                continue  # no clang: it is in the tree
            self.assertEqual(got.returncode, 0, f'{command}: {got}')
            printed = got.stdout
            done += 1
        return done

    def test_commands_of_the_page_work_in_its_order(self):
        self.checkout()
        self.assertGreater(self.follow(README), 4)
        self.assertGreater(self.follow(PRELOAD), 0)

    def test_program_of_nvcc_runs_as_the_page_says(self):
        if not nvcc():
            self.skipTest('nvcc is not installed')
        self.checkout()
        shutil.copy(ROOT / 'tests/cuda/vecadd.cu', self.folder / 'prog.cu')
        shutil.copy(ROOT / 'tests/cuda/program.h', self.folder)
        command = re.search(r'`(nvcc -cudart shared [^`]*)`', PRELOAD)[1]
        got = run('sh', '-c', command, cwd=self.folder,
                  PATH=f'{os.environ["PATH"]}:{nvcc()}')
        self.assertEqual(got.returncode, 0, got)
        for command in ('build/tools/adsm-run --soft ./a.out',
                        'LD_LIBRARY_PATH=build/tools/softcuda ./a.out'):
            got = run('sh', '-c', command, cwd=self.folder)
            self.assertEqual((got.returncode, got.stderr), (0, ''), command)


class Counters(unittest.TestCase):
    def test_counters_are_those_the_page_shows(self):
        program = BUILD / 'bench/wave/wave_ported'
        if not program.exists():
            self.skipTest('the wave programs need libpng')
        with tempfile.TemporaryDirectory() as folder:
            got = run(TOOLS / 'adsm-run', '--soft', '--stats', program,
                      cwd=folder, ADSM_FETCH_AHEAD='sequential')
        counter = re.compile(r'^ *libadsm: +(\w+) +([\d.]+(?: \w+)?)  ', re.M)
        shown = dict(counter.findall(PRELOAD))
        printed = dict(counter.findall(got.stderr))
        self.assertGreater(len(shown), 8)
        self.assertEqual(shown, {name: value for name, value in printed.items()
                                 if not name.startswith('ns_')})


class Documents(unittest.TestCase):
    def test_option_tables_are_current(self):
        got = run(ROOT / 'tools/lib/option_docs.py', '--check',
                  TOOLS / 'adsm-info', ROOT / 'docs/options.md',
                  ROOT / 'docs/man/libadsm.7')
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)

    def test_stale_option_table_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / 'options.md'
            copy.write_text(page('docs/options.md').replace(
                '| `ADSM_PROTOCOL` | rolling |',
                '| `ADSM_PROTOCOL` | batch |'), encoding='utf-8')
            got = run(ROOT / 'tools/lib/option_docs.py', '--check',
                      TOOLS / 'adsm-info', copy)
        self.assertEqual(got.returncode, 1, got)
        self.assertIn('not current', got.stdout)

    @staticmethod
    def anchors(text):
        """What its headings are called in links."""
        return {re.sub(r'[^\w -]', '', line).lower().replace(' ', '-')
                for line in re.findall(r'^#+ (.*)$', text, re.M)}

    def test_links_lead_to_files_and_headings(self):
        self.assertIn('docs/design.md', PAGES)
        for name in PAGES:
            for link, anchor in re.findall(r'\]\(([^)#:]*)#?([^):]*)\)',
                                           page(name)):
                at = (ROOT / name).parent.joinpath(link) if link \
                    else ROOT / name
                self.assertTrue(at.exists(), f'{name}: {link}')
                if anchor:
                    self.assertIn(anchor, self.anchors(at.read_text()), name)

    def test_readmes_figures_are_those_of_the_hardware_page(self):
        """Its table has the seconds of copies by hand and, over those, the
        other columns of the table of seconds."""
        measured = rows_of(page('docs/hardware.md'),
                           '| | explicit | managed | copies deleted')
        shown = rows_of(README, '| program | copies by hand | managed memory')
        self.assertEqual(list(shown), list(measured))
        self.assertEqual(len(shown), 8)
        for name, (by_hand, *ratios) in shown.items():
            explicit, *others = map(float, measured[name])
            self.assertEqual(by_hand, f'{explicit:.3f} s', name)
            self.assertEqual(len(ratios), len(others), name)
            for ratio, seconds in zip(ratios, others):
                self.assertRegex(ratio, r'^\d\.\d\d$')
                # Both are rounded, seconds to a thousandth.
                rounded = 0.005 + 0.0005 * (1 + seconds / explicit) / explicit
                self.assertLessEqual(abs(float(ratio) - seconds / explicit),
                                     rounded, name)

    def test_readme_is_short(self):
        self.assertLessEqual(len(README.splitlines()), 200)

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

    def test_manual_pages_have_the_version_of_the_build(self):
        version = run(TOOLS / 'adsm-run', '--version').stdout.split()[1]
        pages = list((ROOT / 'docs/man').iterdir())
        self.assertGreater(len(pages), 3)
        for path in pages:
            self.assertIn(f'"libadsm {version}"', path.read_text(), path)

    def manual_names(self, page, flags):
        text = (ROOT / 'docs/man' / page).read_text(encoding='utf-8')
        for flag in flags:
            self.assertIn(flag.replace('-', '\\-'), text, page)

    def test_layout_section_names_the_folders(self):
        """Those there are, and no other."""
        named = set(re.findall(r'^    ([a-z]+)/ ', page('docs/design.md'), re.M))
        for room in named:
            self.assertTrue((ROOT / room).is_dir(), room)
        got = run('git', '-C', ROOT, 'ls-files')
        if got.returncode != 0:
            self.skipTest('this is no checkout, whose files git knows')
        there = {name.split('/')[0] for name in got.stdout.splitlines()
                 if '/' in name and not name.startswith('.')}
        self.assertEqual(named, there)


if __name__ == '__main__':
    suite.main()
