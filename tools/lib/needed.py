#!/usr/bin/env python3
"""What a build folder must make for some of its tests.

    needed.py [--all] BUILD [--suite SUITE | --no-suite SUITE]...

Prints ninja's targets, one a line, of the tests that `meson test` with the same
options runs; with --all also what is built whoever tests. Status 1: there is
nothing to make.
"""
import json
import pathlib
import sys


def is_in(test, suites):
    """Whether one of the suites, or its project, is among them."""
    words = {word for suite in test['suite']
             for word in (suite, *suite.split(':'))}
    return bool(words & set(suites))


def main(build, *options):
    everything = build == '--all'
    if everything:
        build, *options = options
    info = pathlib.Path(build) / 'meson-info'
    asked = {'--suite': [], '--no-suite': []}
    for option, suite in zip(options[::2], options[1::2], strict=True):
        asked[option].append(suite)
    tests = json.loads((info / 'intro-tests.json').read_text('utf-8'))
    needed = {target for test in tests for target in test['depends']
              if not is_in(test, asked['--no-suite'])
              and (not asked['--suite'] or is_in(test, asked['--suite']))}
    root = pathlib.Path(build).resolve()
    targets = json.loads((info / 'intro-targets.json').read_text('utf-8'))
    made = [pathlib.Path(name).relative_to(root) for target in targets
            if target['id'] in needed
            or everything and target['build_by_default']
            for name in target['filename']]
    print(*made, sep='\n')
    return 0 if made else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
