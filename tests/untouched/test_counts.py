#!/usr/bin/env python3
"""What preloading adds to calls of a program that never touches device memory:
no call of the driver, of the system or of the heap, no locked instruction, and
few instructions; and to the process: no thread, and little memory.

test_counts.py BUILD-ROOT calls|steps
"""
import sys
import unittest

from preloaded import BUILD, HERE, bare, need_address, preloaded, run, suite

HOW = sys.argv.pop(1)
CALLS = {'calls': 1000, 'steps': 2}[HOW]
# Of the library, for each call of the driver: a branch, and a mark that the
# thread is in the driver and one that it is out.
INSTRUCTIONS = 60
DRIVER = {'LD_LIBRARY_PATH': str(BUILD / 'tests/drivers'), 'PLANTED': 'inside'}
NAMES = {'9': 'mmap', '10': 'mprotect', '11': 'munmap', '13': 'rt_sigaction',
         '14': 'rt_sigprocmask', '28': 'madvise', '39': 'getpid',
         '186': 'gettid', '202': 'futex', '324': 'membarrier'}
# KiB of the library itself, its tables and its data; threads.
PROCESS = {'VmSize': 64 << 10, 'VmRSS': 4 << 10, 'Threads': 0}
# What a round of a loop has more, at most, and is not to: a line comes out when
# it is none any longer. A module's text is kept; allocations note where
# placeholders lie, by one atomic addition; captures are counted where they begin
# and end. Of STEPS: instructions that lock, all of them.
STILL = {'load-module': {('heap', 'calls'): 19}}
STEPS = {
    'launch-wait': (0, 100),
    'launch-graph': (0, 100),
    'copy-any': (0, 90),
    'copy-rows': (0, 90),
    'event-create': (0, 90),
    'stream-create': (0, 110),
    'allocate': (1, 420),
    'allocate-little': (1, 420),
    'allocate-much': (1, 860),
    'allocate-rows': (1, 460),
    'allocate-async': (1, 460),
    'allocate-from-pool': (1, 460),
    'allocate-host': (0, 140),
    'map-memory': (2, 920),
    'ask-context': (0, 160),
    'ask-pointer': (0, 220),
    'capture': (2, 170),
    'load-module': (70, 6330),
}
for _loop, _most in STEPS.items():
    STILL.setdefault(_loop, {}).update({
        ('instructions', name): most
        for name, most in zip(('locked', 'all'), _most) if most})


def counts(*values):
    """{loop: {(what, name): count}} of all loops of `counted`, in its order.
    The values, "NAME=VALUE", are of its environment, not of the tracer's."""
    status, out, err = run(bare(**DRIVER), HERE / 'trace', HOW, *values,
                           HERE / 'counted', CALLS)
    if status == 77:
        raise unittest.SkipTest(err.strip())
    assert (status, err) == (0, ''), (status, out[-500:], err[-500:])
    loops = {}
    for line in out.splitlines():
        loop, what, name, number = line.split()
        loops.setdefault(loop, {})[what, name] = int(number)
    return loops


def of_the_driver(counted):
    """Calls of the driver among these counts."""
    return sum(n for (what, _), n in counted.items() if what == 'driver')


def more_in(want, have):
    """{(what, name): (before, after)} of what is not the same in a loop."""
    both = {key: (want.get(key, 0), have.get(key, 0))
            for key in {*want, *have}}
    return {key: (before, after) for key, (before, after) in both.items()
            if before != after}


def is_allowed(key, more, want, still):
    """Whether there may be so much more of it."""
    if key == ('instructions', 'all') and key not in still:
        return more <= INSTRUCTIONS * of_the_driver(want)
    return 0 <= more <= still.get(key, 0) * CALLS


def differences(want, have, still):
    """Lines of a table: what there is more of in one loop, or less."""
    found = more_in(want, have)
    for (what, name), (before, after) in sorted(found.items()):
        if is_allowed((what, name), after - before, want, still):
            continue
        name = NAMES.get(name, name) if what == 'system' else name
        yield (f'{what + " " + name:<42} {before / CALLS:10.3f} '
               f'{after / CALLS:10.3f}')
    for what, name in sorted(still.keys() - found.keys()):
        if what != 'instructions' or HOW == 'steps':
            yield f'{what + " " + name:<42} none more: take it out of STILL'


class Counts(unittest.TestCase):
    """Of each loop of `counted`."""

    @classmethod
    def setUpClass(cls):
        cls.want = counts()
        cls.process = cls.want.pop('process')

    def test_bare_loops_are_of_calls_of_the_driver_alone(self):
        """So that what is counted beside them is the library's."""
        self.assertGreater(len(self.want), 30)
        for loop, counted in self.want.items():
            self.assertGreaterEqual(of_the_driver(counted), CALLS, loop)
            self.assertFalse({what for what, _ in counted}
                             - {'driver', 'instructions'}, loop)

    def test_preloaded_loops_and_process_have_nothing_more(self):
        """Of each loop that has, a table of what is not the same per round."""
        need_address()
        have = counts(*(f'{name}={value}'
                        for name, value in preloaded().items()
                        if name in ('LD_PRELOAD', 'ADSM_ADDRESS')))
        process = have.pop('process')
        self.assertEqual(list(self.want), list(have))
        self.assertLessEqual(STILL.keys(), have.keys())
        tables = ''
        for loop, want in self.want.items():
            lines = list(differences(want, have[loop], STILL.get(loop, {})))
            if lines:
                head = f'{loop:<42} {"bare":>10} {"preloaded":>10}'
                tables += '\n'.join(['', head, *lines, ''])
        for name, most in PROCESS.items():
            before, after = (of['status', name] for of in (self.process,
                                                           process))
            if after - before > most:
                tables += f'\nprocess {name}: {before}, preloaded {after}\n'
        if tables:
            self.fail(tables)


if __name__ == '__main__':
    suite.main()
