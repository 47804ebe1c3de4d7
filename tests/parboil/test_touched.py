"""What the programs' launches touch lies in what was proved of them.

The software device tells both, access by access (SOFTCUDA_TOUCHED).
"""
import os
import subprocess
import tempfile
import unittest

RUNNER = os.path.join(os.environ["PARBOIL_PROGRAMS"], "adsm-bench")
# Of each, accesses that have a range: not what is indexed by loaded numbers.
KNOWN = {"cp": True, "mri-fhd": True, "mri-q": True, "pns": True, "rpes": True,
         "sad": True, "tpacf": True, "vecadd": True}


def touched(bench):
    """Lines of the log of one run of the program with copies by hand."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "touched")
        subprocess.run([RUNNER, "--quiet", "--json", "--form", "explicit",
                        bench], stdout=subprocess.PIPE, timeout=200,
                       check=True, env=dict(os.environ, SOFTCUDA_TOUCHED=log))
        with open(log, encoding="utf-8") as file:
            return file.readlines()


class Touched(unittest.TestCase):
    def test_no_access_is_outside_of_its_proof(self):
        for bench, known in KNOWN.items():
            lines = touched(bench)
            accesses = [line for line in lines if line.startswith("  line ")]
            self.assertTrue(accesses, bench)
            self.assertEqual([], [line for line in lines
                                  if line.endswith(" WRONG\n")], bench)
            self.assertEqual(known, any(" known " in line
                                        for line in accesses), bench)
            print(bench, len(lines) - len(accesses), "launches,",
                  sum(" known " in line for line in accesses), "of",
                  len(accesses), "accesses have a range")


if __name__ == "__main__":
    unittest.main()
