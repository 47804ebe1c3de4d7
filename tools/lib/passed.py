#!/usr/bin/env python3
"""What of the tree last passed tests that are only run where it changed.

    passed.py hash LIST                       print what LIST's files hash to
    passed.py is-current LIST BUILD COMPILER  status 0: as they are they have
                                              passed in such a build
    passed.py renew LIST BUILD COMPILER HASH [SUITE LOG]
                                              note that they have

LIST is a file of lines: `hashed PATH` names a file or folder of the tree, whose
root the command runs in; `passed BUILD COMPILER HASH` is written by `renew`.
All that lies in a folder counts, and its name. `renew` with a testlog.json
refuses (status 1, and a line that says why) unless all tests of SUITE in it
passed, and one at least: what was skipped has not passed. It drops what other
hashes passed, so HASH is what `hash` said before the tests began.
"""
import hashlib
import os
import pathlib
import sys

from count_tests import count, tests_of

LEFT_OUT = ('__pycache__',)


def lines_of(path, word):
    """The rest of all lines that begin with `word`."""
    text = pathlib.Path(path).read_text(encoding='utf-8')
    rows = [line.split() for line in text.splitlines()]
    return [row[1:] for row in rows if row and row[0] == word]


def files_of(path):
    """All files of the list in an order of their own."""
    found = set()
    for name, in lines_of(path, 'hashed'):
        if not os.path.exists(name):
            sys.exit(f"passed.py: {path} lists '{name}', which is not there: "
                     'name where it is now')
        found |= {name} if os.path.isfile(name) else {
            os.path.join(folder, file)
            for folder, _, files in os.walk(name) for file in files}
    return sorted(name for name in found
                  if not set(pathlib.Path(name).parts) & set(LEFT_OUT))


def hash_of(path):
    total = hashlib.sha256()
    for name in files_of(path):
        content = pathlib.Path(name).read_bytes()
        runs = 'x' if os.access(name, os.X_OK) else '-'
        total.update(f'{name}\0{runs}{len(content)}\0'.encode() + content)
    return total.hexdigest()


def why_not_all(suite, log):
    """A text, or None where all tests of the suite passed."""
    # "project:suite+suite / name"
    tests = [test for test in tests_of(log)
             if suite in test['name'].split(' / ')[0].split(':')[-1].split('+')]
    bad = [test['name'].split(' / ')[-1] for test in tests
           if any(count(test)[1:])]
    if bad:
        return 'failed or skipped: ' + ', '.join(bad)
    return None if tests else 'none of its tests was run'


def renew(path, build, compiler, value, suite=None, log=None):
    why = why_not_all(suite, log) if log else None
    if why:
        print(why)
        return 1
    kept = [row for row in lines_of(path, 'passed')
            if row[2] == value and row[:2] != [build, compiler]]
    text = pathlib.Path(path).read_text(encoding='utf-8')
    rest = [line for line in text.splitlines()
            if not line.startswith('passed ')]
    rows = sorted(kept + [[build, compiler, value]])
    rest += ['passed ' + ' '.join(row) for row in rows]
    pathlib.Path(path).write_text('\n'.join(rest) + '\n', encoding='utf-8')
    return 0


def main(command, path, *words):
    if command == 'hash':
        print(hash_of(path))
        return 0
    if command == 'is-current':
        known = lines_of(path, 'passed')
        return 0 if [*words, hash_of(path)] in known else 1
    if command == 'renew':
        return renew(path, *words)
    sys.exit(__doc__)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
