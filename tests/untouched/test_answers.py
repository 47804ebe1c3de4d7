#!/usr/bin/env python3
"""A program that never touches device memory gets the driver's own answers.

test_answers.py BUILD-ROOT

DEVICE_DIR names the folder of another driver than the software device's.
"""
import os
import unittest

from preloaded import BUILD, HERE, bare, need_address, preloaded, run, suite

DEVICE = {'LD_LIBRARY_PATH': os.environ.get('DEVICE_DIR',
                                             BUILD / 'tools/softcuda')}
LEAST = 60  # different questions
SHOWN = 200  # differences


def answers(env, *words):
    """The lines of a run that went well, and what was said beside it."""
    status, out, err = run(env, *words)
    assert status == 0, (status, out[-500:], err[-500:])
    return out.splitlines() + err.splitlines()


def differences(want, have):
    """A text of the lines that differ; empty where none does."""
    rows = [f'want {a}\nhave {b}\n' for a, b in zip(want, have) if a != b]
    if len(want) != len(have):
        rows.append(f'want {len(want)} lines\nhave {len(have)}\n')
    return ''.join(rows[:SHOWN]) and f'{len(rows)} differ\n' + \
        ''.join(rows[:SHOWN])


class Answers(unittest.TestCase):
    """All lines of `answers`."""

    @classmethod
    def setUpClass(cls):
        cls.want = answers(bare(**DEVICE), HERE / 'answers')

    def compare(self, env, *words):
        """The same lines as the bare program's."""
        text = differences(self.want, answers(env, *words))
        if text:
            self.fail(text)

    def test_bare_has_many_and_the_same_each_time(self):
        """By each of the routes, too."""
        names = {line.split(':')[0].split(' of ')[0] for line in self.want}
        self.assertGreater(len(names), LEAST)
        self.compare(bare(**DEVICE), HERE / 'answers')
        for route in 'dlsym', 'procaddr':
            self.compare(bare(**DEVICE), HERE / 'answers_named', route)

    def test_linked_program_gets_the_drivers(self):
        """The loader finds the hooks before the driver."""
        need_address()
        self.compare(preloaded(**DEVICE), HERE / 'answers')

    def test_program_that_looks_functions_up_gets_the_drivers(self):
        """By name, and by cuGetProcAddress."""
        need_address()
        for route in 'dlsym', 'procaddr':
            self.compare(preloaded(**DEVICE), HERE / 'answers_named', route)


if __name__ == '__main__':
    suite.main()
