#!/usr/bin/env python3
"""Completion in the shells themselves, at a terminal.

test_completion.py SOURCE-ROOT BUILD-ROOT
"""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

ROOT = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
del sys.argv[1:]
PATIENCE_S = 30


class Shell:
    """One that somebody sits at."""

    def __init__(self, words, setup, folder):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(('ADSM_', 'SOFTCUDA_', 'BASH_'))}
        env.update(PATH=f'{BUILD}/tools:{BUILD}/bench/parboil:{env["PATH"]}',
                   TERM='dumb', COLUMNS='400', HOME=folder, PS1='', LC_ALL='C')
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, env)
        self.said = ''
        self.send('stty -echo columns 400\n')
        for line in setup:
            self.send(line + '\n')
        self.count = 0
        self.complete('true')

    def send(self, text):
        os.write(self.fd, text.encode())

    def until(self, pattern):
        """What the pattern finds in what is said from here on."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            match = re.search(pattern, self.said)
            if match:
                self.said = self.said[match.end():]
                return match
            if select.select([self.fd], [], [], 1)[0]:
                self.said += os.read(self.fd, 65536).decode(errors='replace')
        raise AssertionError(f'no {pattern} in {self.said!r}')

    def complete(self, line):
        """What the tab key makes of a line."""
        self.count += 1
        # The line becomes an argument, which is printed.
        self.send(f"{line}\t\x01printf '%s.\\n' 'GOT{self.count}:\x05'\n")
        return self.until(rf'(?m)^GOT{self.count}:(.*)\.\r?$')[1]

    def end(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Bash(unittest.TestCase):
    WORDS = ['bash', '--norc', '--noprofile', '-i']
    SETUP = ["PS1= PS2=; bind 'set bell-style none'",
             f'. {ROOT}/tools/completion/adsm.bash']

    @classmethod
    def setUpClass(cls):
        if not shutil.which(cls.WORDS[0]):
            raise unittest.SkipTest(f'{cls.WORDS[0]} is not installed')
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (pathlib.Path(cls.folder) / 'unlike.dat').touch()
        cls.shell = Shell(cls.WORDS, cls.SETUP, cls.folder)
        cls.addClassCleanup(cls.shell.end)

    def becomes(self, line, wanted):
        self.assertEqual(self.shell.complete(line).rstrip(), wanted)

    def test_every_option_of_the_tools(self):
        for tool in 'adsm-run', 'adsm-info', 'adsm-bench':
            place = 'bench/parboil' if tool == 'adsm-bench' else 'tools'
            text = subprocess.run([BUILD / place / tool, '--help'], check=True,
                                  capture_output=True, text=True).stdout
            flags = re.findall(r'^  (--[a-z-]+)', text, re.M)
            self.assertGreater(len(flags), 8)
            for flag in set(flags):
                longer = [other for other in flags if other != flag
                          and other.startswith(flag[:-1])]
                if not longer and flags.count(flag) == 1:
                    got = self.shell.complete(f'{tool} {flag[:-1]}')
                    self.assertRegex(got, rf'^{tool} {flag}=? *$')

    def test_values_are_those_of_the_variable(self):
        self.becomes('adsm-run --protocol la', 'adsm-run --protocol lazy')
        self.becomes('adsm-run --protocol=ba', 'adsm-run --protocol=batch')

    def test_every_variable(self):
        text = subprocess.run([BUILD / 'tools/adsm-info', '--json',
                               '--options'], check=True, capture_output=True,
                              text=True).stdout
        names = [row['option'] for row in json.loads(text)['options']]
        self.assertGreater(len(names), 20)
        for name in names:
            if not any(other.startswith(name[:-1]) and other != name
                       for other in names):
                self.becomes(f'adsm-run --set {name[:-1]}',
                             f'adsm-run --set {name}=')
        self.becomes('adsm-run --set ADSM_FAULT_ENGINE=asy',
                     'adsm-run --set ADSM_FAULT_ENGINE=async')

    def test_files_and_programs(self):
        self.becomes('adsm-run --trace unl', 'adsm-run --trace unlike.dat')
        self.becomes('adsm-run --soft --stats adsm-inf',
                     'adsm-run --soft --stats adsm-info')
        self.becomes('adsm-run --soft cat unl',
                     'adsm-run --soft cat unlike.dat')

    def test_benchmarks(self):
        self.becomes('adsm-bench vec', 'adsm-bench vecadd')

    def test_commands_of_adsm_trace_and_what_they_have(self):
        self.becomes('adsm-trace summ', 'adsm-trace summary')
        self.becomes('adsm-trace ga', 'adsm-trace gantt')
        self.becomes('adsm-trace top --by wa', 'adsm-trace top --by waits')
        self.becomes('adsm-trace top --cou', 'adsm-trace top --count')
        self.becomes('adsm-trace blocks unl', 'adsm-trace blocks unlike.dat')
        self.becomes('adsm-trace blocks --png unl',
                     'adsm-trace blocks --png unlike.dat')
        for line in ('adsm-trace nothing', 'adsm-trace top --threads',
                     'adsm-trace top --by ra'):
            self.becomes(line, line)

    def test_nothing_where_there_is_nothing(self):
        for line in ('adsm-run --nothing-like-it', 'adsm-run --set NOTHING=x',
                     'adsm-run --protocol eag', 'adsm-info nothing'):
            self.becomes(line, line)


class Zsh(Bash):
    WORDS = ['zsh', '-f', '-i']
    SETUP = ["PS1= PS2= RPS1= PROMPT_EOL_MARK=; unsetopt PROMPT_SP ZLE_RPROMPT "
             "BEEP; bindkey -e",
             f'fpath=({ROOT}/tools/completion $fpath); '
             'autoload -U compinit; compinit -u -D; '
             "zstyle ':completion:*' insert-tab false"]

    def test_values_in_assignments(self):
        self.becomes('export ADSM_FAULT_ENGINE=asy',
                     'export ADSM_FAULT_ENGINE=async')
        self.becomes('ADSM_PROTOCOL=roll', 'ADSM_PROTOCOL=rolling')


if __name__ == '__main__':
    suite.main()
