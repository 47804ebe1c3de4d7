"""What libadsm moves and allocates for the same calls as the containers.

Never more than the rules that were published for it, in any column.
"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "common"))
import suite  # noqa: E402

PROGRAMS = os.environ["CONTAINERS_PROGRAMS"]
COLUMNS = ("up", "local", "peer", "down", "moved", "allocated", "allocations")


def table1():
    done = subprocess.run([os.path.join(PROGRAMS, "table1")],
                          stdout=subprocess.PIPE, timeout=200, check=True)
    rows = map(json.loads, done.stdout.splitlines())
    return {row["case"]: row["median"] for row in rows}


def engine(stats, name, n, calls):
    """Counters of libadsm after a program on two devices."""
    subprocess.run([os.path.join(PROGRAMS, "table1-engine"), name, str(n),
                    str(calls)], stdout=subprocess.DEVNULL, timeout=100,
                   check=True,
                   env={**os.environ, "SOFTCUDA_DEVICES": "2",
                        "ADSM_STATS_FILE": stats})
    with open(stats) as file:
        return json.loads(file.readlines()[-1])


class Engine(unittest.TestCase):
    def test_no_column_is_larger_than_that_of_the_new_rules(self):
        value = table1()
        for program in "lu", "nbody", "sph":
            for peer in "", "+peer":
                for column in COLUMNS:
                    with self.subTest(program=program + peer, column=column):
                        self.assertLessEqual(
                            value[f"{program}/adsm{peer}/{column}"],
                            value[f"{program}/new{peer}/{column}"])
        self.assertEqual(value["fig2/adsm/copies"], 2)
        self.assertEqual(value["fig2/adsm/moved"], 2 * 256 << 10)
        # The CPU touches one element: one block moves, not the copy.
        self.assertEqual(value["fig2-one/new/moved"], 2 * 4 << 20)
        self.assertEqual(value["fig2-one/adsm/copies"], 2)
        self.assertEqual(value["fig2-one/adsm/moved"], 2 * 256 << 10)
        self.assertEqual(value["fig2/back and forth/copies"], 7)

    def test_memory_does_not_depend_on_the_number_of_calls(self):
        stats = os.path.join(os.environ.get("TMPDIR", "/tmp"),
                             f"containers-{os.getpid()}")
        self.addCleanup(os.remove, stats)
        for name in "nbody", "sph", "mandel":
            few = engine(stats, name, 1000, 2)
            many = engine(stats, name, 1000, 31)
            for counter in "store_allocs", "store_bytes", "copies_made":
                self.assertEqual(few[counter], many[counter], name)


if __name__ == "__main__":
    suite.main()
