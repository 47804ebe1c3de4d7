#!/usr/bin/env python3
"""What a program's launches touch lies in what was proved of them.

    test_touched.py [--unused KERNEL,...] [--no-range KERNEL,...]
                    [--ptx FILE,...] PROGRAM [WORD]...

The software device tells both, access by access (SOFTCUDA_TOUCHED). Every
kernel of the files has to be launched, and some of its accesses to have a
range, but for those that are named.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

OUTSIDE = ' WRONG\n'


def kernels_of(files):
    """Names of the kernels in PTX files."""
    names = []
    for path in files:
        with open(path, encoding='utf-8') as file:
            names += re.findall(r'\.entry\s+([\w$]+)', file.read())
    return names


def run(command):
    """Lines of the log of one run; None: the program failed."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'touched')
        done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=280,
                              check=False,
                              env=dict(os.environ, SOFTCUDA_TOUCHED=log))
        if done.returncode:
            print(f'status {done.returncode}')
            return None
        with open(log, encoding='utf-8') as file:
            return file.readlines()


def count(lines):
    """By kernel: launches, accesses, those with a range, those outside."""
    kernels, of = {}, None
    for line in lines:
        if line.startswith('launch '):
            of = kernels.setdefault(line.split()[1], [0, 0, 0, 0])
            of[0] += 1
        else:
            of[1] += 1
            of[2] += ' known ' in line
            of[3] += line.endswith(OUTSIDE)
    return kernels


def names(text):
    return text.split(',') if text else []


def main():
    parser = argparse.ArgumentParser()
    for option in '--unused', '--no-range', '--ptx':
        parser.add_argument(option, type=names, default=[])
    parser.add_argument('command', nargs=argparse.REMAINDER)
    words = parser.parse_args()
    lines = run(words.command)
    if not lines:
        print('no launches')
        sys.exit(1)
    kernels, wrong = count(lines), 0
    for name, (launches, accesses, known, outside) in sorted(kernels.items()):
        print(f'{name}: {launches} launches, {known} of {accesses} accesses '
              f'have a range, {outside} are outside of it')
        wrong += outside > 0
    print(*[line for line in lines if line.endswith(OUTSIDE)][:20], sep='')
    for name in kernels_of(words.ptx):
        if (name in kernels) == (name in words.unused):
            print(f'{name}: launched or not, and not as expected')
            wrong += 1
        elif name in kernels and \
                (kernels[name][2] > 0) == (name in words.no_range):
            print(f'{name}: a range or none, and not as expected')
            wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
