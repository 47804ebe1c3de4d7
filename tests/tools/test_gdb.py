#!/usr/bin/env python3
"""adsm-run --gdb: a real gdb on a program whose array a kernel has written.

test_gdb.py BUILD-ROOT PROGRAM
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

BUILD = pathlib.Path(sys.argv[1]).resolve()
PROGRAM = pathlib.Path(sys.argv[2]).resolve()
del sys.argv[1:]
RUN = BUILD / 'tools/adsm-run'
PRELOAD = BUILD / 'interpose/libadsm-preload.so'


def plain_environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_'))}


def run(*words, commands, **extra):
    """What gdb and the program have to say."""
    lines = ('set pagination off', 'set confirm off', 'set width 0', *commands)
    done = subprocess.run([str(RUN), *map(str, words)],
                          input='\n'.join(lines) + '\n', text=True,
                          env={**plain_environment(), 'HOME': '/dev/null/home',
                               **extra},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, timeout=100)
    return done.stdout


def gdb(*commands, words=(), options=('--soft',), **extra):
    return run(*options, '--gdb', PROGRAM, *words, commands=commands, **extra)


STOPPED = ('break stop_here', 'run')


def can_call():
    """Whether gdb can call functions of a program, which is how it asks us. On
    some processors gdb 13 cannot: it does not know all of their registers."""
    said = subprocess.run(['gdb', '-nx', '-batch', '-ex',
                           'catch syscall exit_group', '-ex', 'run', '-ex',
                           'print (int)getpid() > 1', '--args', 'true'],
                          env=plain_environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=100)
    return 'write extended state' not in said.stdout


calls = unittest.skipUnless(can_call(), 'this gdb cannot call functions of '
                            'programs on this processor')


class Printing(unittest.TestCase):
    @calls
    def test_what_the_kernel_wrote_is_printed(self):
        for protocol in 'batch', 'lazy', 'rolling':
            said = gdb(*STOPPED, 'adsm print words[7]', 'adsm print *words@3',
                       'adsm print/x words[100]', 'adsm print *pair',
                       ADSM_PROTOCOL=protocol)
            self.assertIn('$1 = 1021\n', said)
            self.assertIn('$2 = {1000, 1003, 1006}\n', said)
            self.assertIn('$3 = 0x514\n', said)
            self.assertIn('$4 = {first = 1048, second = 1051}\n', said)

    def test_without_it_gdb_prints_what_was(self):
        said = gdb(*STOPPED, 'print words[7]', ADSM_PROTOCOL='rolling')
        self.assertIn('$1 = 7\n', said)

    @calls
    def test_pointer_in_an_expression(self):
        said = gdb(*STOPPED, 'print $adsm(words, 40)[9] + 1',
                   'x/2uw $adsm(words + 500000, 8)')
        self.assertIn('$1 = 1028\n', said)
        self.assertIn('1501000\t1501003\n', said)

    @calls
    def test_plain_memory_is_printed(self):
        said = gdb(*STOPPED, 'adsm print words == 0', 'adsm print WORDS',
                   'adsm print out', 'adsm print words')
        self.assertEqual(said.count('is not a place in memory'), 2)
        self.assertIn('__jmpbuf', said)
        self.assertIn('(unsigned int *) 0x', said)

    @calls
    def test_other_engines(self):
        for engine in 'sigsegv', 'async', 'uffd':
            said = gdb(*STOPPED, 'adsm print words[7]',
                       ADSM_FAULT_ENGINE=engine)
            self.assertIn('$1 = 1021\n', said, engine)


class Storing(unittest.TestCase):
    @calls
    def test_kernels_see_what_is_stored(self):
        said = gdb(*STOPPED, 'adsm set words[8] = 100', 'continue')
        self.assertIn('\n1300\n', said)
        self.assertIn('exited normally', said)

    def test_usage_is_said(self):
        said = gdb(*STOPPED, 'adsm set words[8]', 'adsm set words[8] == 1')
        self.assertIn('usage: adsm set PLACE = VALUE', said)


class Refusing(unittest.TestCase):
    def test_before_the_program_runs(self):
        said = gdb('adsm print words')
        self.assertIn('No symbol "words" in current context', said)
        said = gdb('adsm print nowhere')
        self.assertIn('adsm: ', said)

    @calls
    def test_inside_the_runtime(self):
        # First the hook, then what is behind it, with the array closed.
        said = gdb(*STOPPED, 'set $array = words', 'break cuLaunchKernel',
                   'continue', 'print $adsm($array, 4)[0]', 'continue',
                   'print $adsm($array, 4)[0]', 'finish', 'finish', 'delete', 'continue')
        self.assertEqual(said.count('= 1000\n'), 1)
        self.assertIn('adsm: this thread was stopped inside ', said)
        self.assertIn('\n4072\n', said)
        self.assertIn('exited normally', said)


class Ending(unittest.TestCase):
    def test_a_fault_of_the_programs_own_is_shown_where_it_is(self):
        said = gdb('run', 'print nowhere', 'continue', 'run', 'print nowhere',
                   words=['crash'])
        self.assertRegex(said, 'The program faults by itself, and is about to '
                               'end:\n#[0-9]+ .*crash \\(\\)')
        self.assertEqual(said.count('0x0\n'), 2)
        self.assertIn('terminated with signal SIGSEGV', said)

    def test_a_handler_gets_its_fault(self):
        said = gdb('run', words=['handled'])
        self.assertIn('\nhandled\n', said)
        self.assertIn('exited normally', said)


class Starting(unittest.TestCase):
    @calls
    def test_only_the_program_has_the_environment(self):
        said = gdb('shell echo "gdb: $LD_PRELOAD $ADSM_PROTOCOL."',
                   *STOPPED, 'print (char *)getenv("LD_PRELOAD")',
                   'print (char *)getenv("ADSM_PROTOCOL")',
                   options=('--soft', '--protocol', 'lazy'))
        self.assertIn('gdb:  .\n', said)
        self.assertIn(f'"{PRELOAD}"', said)
        self.assertIn('"lazy"', said)

    def test_words_reach_the_program(self):
        odd = ["it's", 'two words', '$HOME', '--gdb']
        said = gdb('run', words=odd,
                   options=('--soft', '--stats-file', "/dev/null"))
        self.assertIn('\n'.join(odd) + '\n', said)
        self.assertIn('exited normally', said)

    def test_options_with_odd_characters(self):
        said = gdb('run', 'print 1', words=['handled'],
                   options=('--soft', '--trace', "/dev/null/it's a file"))
        self.assertIn('\nhandled\n', said)
        self.assertIn("/dev/null/it's a file", said)

    def test_without_gdb_one_message(self):
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run([str(RUN), '--soft', '--gdb', str(PROGRAM)],
                                  env={**plain_environment(), 'PATH': empty},
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr, 'adsm-run: --gdb: gdb cannot be started: '
                         'No such file or directory\n')


def has_gdb():
    """A gdb with Python that may trace here."""
    if not shutil.which('gdb'):
        return False
    said = subprocess.run(['gdb', '-nx', '-batch', '-ex', 'python print(6 * 7)',
                           '-ex', 'run', '--args', 'true'],
                          capture_output=True, text=True, check=False)
    return '42' in said.stdout and 'exited normally' in said.stdout


if __name__ == '__main__':
    if not has_gdb():
        print('SKIP: there is no gdb with Python, or it may not trace')
        sys.exit(77)
    suite.main()
