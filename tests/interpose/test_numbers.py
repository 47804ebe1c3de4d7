#!/usr/bin/env python3
"""The list of system calls by number (interpose/calls/syscalls.def) against
what the kernel's headers have: no number is in no class.

test_numbers.py SOURCE-ROOT COMPILER...
"""
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE, COMPILER = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
del sys.argv[1:]
# What arm64's header asks of the one that it shares with others.
GENERIC = '''
#define __BITS_PER_LONG 64
#define __ARCH_WANT_RENAMEAT
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_TIME32_SYSCALLS
#define __ARCH_WANT_SYS_CLONE3
#define __ARCH_WANT_MEMFD_SECRET
#include <asm-generic/unistd.h>
'''
HEADERS = {'of this machine': '#include <asm/unistd.h>', 'generic': GENERIC}
# How many numbers there are, and the first of those of one architecture.
NO_CALLS = {'syscalls', 'arch_specific_syscall'}
CLASSES = ['SAME', 'SHAPE', 'OWN', 'VM', 'NONE', 'LEFT']


def preprocess(text, *flags):
    done = subprocess.run(
        [*COMPILER, '-E', '-P', '-xc', '-I', SOURCE, *flags, '-'],
        input=text, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def numbers(header):
    """Name -> number."""
    names = set(re.findall(r'#define __NR_(\w+)',
                           preprocess(header, '-dM'))) - NO_CALLS
    text = header + ''.join(f'\n@{name} = __NR_{name}' for name in names)
    values = re.findall(r'@(\w+) = (\d+)', preprocess(text))
    return {name: int(number) for name, number in values}


def rows(names):
    """(class, name, what is said) of each row, on a machine that has these."""
    text = ''.join(f'#define SYS_{name} 1\n' for name in names)
    text += ''.join(f'#define ADSM_SYSCALL_{kind}(name, ...) '
                    f'@{kind} name : __VA_ARGS__;\n' for kind in CLASSES)
    text += '#include "interpose/calls/syscalls.def"\n'
    return re.findall(r'@(\w+) (\w+) :([^;]*);', preprocess(text))


class Numbers(unittest.TestCase):
    maxDiff = None

    def each(self):
        for label, header in HEADERS.items():
            with self.subTest(label):
                yield numbers(header)

    def test_headers_have_them(self):
        for known in self.each():
            self.assertGreater(len(known), 300)
            self.assertEqual(len(set(known.values())), len(known))

    def test_each_number_is_in_a_class(self):
        for known in self.each():
            listed = {name for _, name, _ in rows(known)}
            self.assertEqual(set(known) - listed, set())

    def test_each_is_in_one(self):
        for known in self.each():
            names = [name for _, name, _ in rows(known)]
            self.assertEqual(
                sorted(name for name in names if names.count(name) > 1), [])

    def test_what_the_headers_lack_has_its_number(self):
        path = SOURCE / 'interpose/calls/numbers.h'
        given = dict(re.findall(r'#define SYS_(\w+) (\d+)', path.read_text()))
        for known in self.each():
            for name, number in given.items():
                if name in known:
                    self.assertEqual(known[name], int(number), name)
            self.assertEqual({name for _, name, _ in rows(known)}
                             - set(known) - set(given), set())

    def test_what_is_left_says_why(self):
        text = (SOURCE / 'interpose/calls/syscalls.def').read_text()
        why = dict(re.findall(r'(?m)^ADSM_SYSCALL_WHY\((\w+), "(.+)"\)', text))
        left = {said.strip() for known in self.each()
                for kind, _, said in rows(known) if kind == 'LEFT'}
        self.assertEqual(left, set(why))


if __name__ == '__main__':
    unittest.main()
