"""What each protocol moves, against the program with copies by hand.

The runner itself checks that the runtime's bytes are the device's; here it is
how many there are. Beyond what the explicit program copies, rolling may move
one block of an object at a call: the unit of coherence, as large as a small
object and never more than the default block.
"""
import json
import os
import subprocess
import unittest

RUNNER = os.path.join(os.environ["PARBOIL_PROGRAMS"], "adsm-bench")
# KiB in both directions together for each call: the blocks of the objects that
# the CPU touches between two calls of the small input.
MORE_PER_CALL = {"cp": 64, "mri-fhd": 64, "mri-q": 64, "pns": 4, "rpes": 96,
                 "sad": 32, "tpacf": 8, "vecadd": 0}


def cases(bench):
    done = subprocess.run(
        [RUNNER, "--quiet", "--json", "--no-verify", "--form",
         "explicit,naive,ported", bench],
        stdout=subprocess.PIPE, timeout=100, check=True)
    return {row["case"]: row for row in map(json.loads,
                                            done.stdout.splitlines())}


def moved(row):
    return (row.get("bytes_up", 0) + row["copied_up"] +
            row.get("bytes_down", 0) + row["copied_down"])


class Bytes(unittest.TestCase):
    def test_rolling_moves_little_more_than_copies_by_hand(self):
        for bench, more in MORE_PER_CALL.items():
            rows = cases(bench)
            explicit, rolling = rows["explicit/bare"], rows["ported/rolling"]
            self.assertEqual(explicit["launches"], rolling["launches"])
            self.assertLessEqual(
                moved(rolling),
                moved(explicit) + 1024 * more * explicit["launches"], bench)
            self.assertLessEqual(moved(rolling), moved(rows["ported/lazy"]),
                                 bench)
            self.assertLess(moved(rows["ported/lazy"]),
                            moved(rows["ported/batch"]), bench)
            # Copying everything by hand is what batch does by itself.
            self.assertLess(moved(rows["ported/batch"]),
                            2 * moved(rows["naive/bare"]), bench)


if __name__ == "__main__":
    unittest.main()
