"""Bad input files of the benchmarks: each is refused with one clear line.

Every case makes a file that is wrong in one way, runs a program of the
benchmark on it and wants status 2 and one line on stderr that begins with the
program's name and names the file; no report on stdout, no signal.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = os.environ["PARBOIL_PROGRAMS"]
DATA = os.environ["PARBOIL_DATA"]
SOFTCUDA = os.environ["DEVICE_DIR"]
PRELOADED = os.environ["PRELOADED"]  # adsm-run

HEADER = 64
# Program, and per number of the header the least and greatest value.
KINDS = {
    "cp": [(1, 8192), (1, 8192), (1, 1024), (1, 1 << 20), (1, 100000)],
    "mri_fhd": [(1, 1 << 26), (1, 1 << 24)],
    "mri_q": [(1, 1 << 26), (1, 1 << 24)],
    "pns": [(1, 4096), (1, 4096), (1, 65536), (1, 1 << 24), (1, 10000000)],
    "rpes": [(1, 512), (1, 8192)],
    "sad": [(16, 4096), (16, 4096), (1, 64)],
    "tpacf": [(1, 1 << 20), (1, 999), (2, 63), (1, 20), (1, 360000)],
    "vecadd": [(1, 1 << 28), (1, None), (1, None)],
}
FLOATS = ["cp", "mri_fhd", "mri_q", "rpes"]  # whose arrays begin with f32


def run(program, path, preload=False):
    """Run one program on a file; (status, stdout, stderr)."""
    command = [os.path.join(PROGRAMS, program), "--input", path, "--json"]
    environment = dict(os.environ)
    if preload:
        command = [PRELOADED, "--soft", "--"] + command
    else:
        environment["LD_LIBRARY_PATH"] = SOFTCUDA
    done = subprocess.run(command, env=environment, capture_output=True,
                          timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def good(kind):
    with open(os.path.join(DATA, kind + ".par"), "rb") as file:
        return file.read()


def number_put(content, index, value):
    at = 16 + 4 * index
    return content[:at] + struct.pack("<I", value) + content[at + 4:]


class BadInputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "in.par")

    def refused(self, kind, content, says, form="explicit", preload=False):
        with open(self.path, "wb") as file:
            file.write(content)
        program = kind + "_" + form
        status, out, err = run(program, self.path, preload)
        self.assertEqual(status, 2, f"{program}: {err}")
        self.assertEqual(out, "")
        lines = err.splitlines()
        self.assertEqual(len(lines), 1, err)
        self.assertTrue(lines[0].startswith(f"{program}: '{self.path}"), err)
        self.assertIn(says, lines[0])

    def test_truncated_header_is_refused(self):
        for kind in KINDS:
            for size in 0, 1, 8, HEADER - 1:
                self.refused(kind, good(kind)[:size], "is truncated")

    def test_truncated_and_longer_data_are_refused(self):
        for kind in KINDS:
            content = good(kind)
            if len(content) > HEADER:
                self.refused(kind, content[:-1], "is truncated")
                self.refused(kind, content[:HEADER], "is truncated")
            self.refused(kind, content + b"\0", "is too long")

    def test_garbage_is_refused(self):
        noise = random.Random(7)
        for kind in KINDS:
            self.refused(kind, noise.randbytes(10000), "is no input file")
            self.refused(kind, b"x" + good(kind)[1:], "is no input file")
            text = b"ADSMPAR2" + good(kind)[8:]
            self.refused(kind, text, "is no input file")

    def test_another_benchmarks_file_is_refused(self):
        kinds = list(KINDS)
        for kind, other in zip(kinds, kinds[1:] + kinds[:1]):
            self.refused(kind, good(other), "is of another kind")

    def test_numbers_out_of_range_are_named(self):
        for kind, ranges in KINDS.items():
            for index, (least, greatest) in enumerate(ranges):
                bad = number_put(good(kind), index, least - 1)
                self.refused(kind, bad, "it must be")
                if greatest:
                    bad = number_put(good(kind), index, greatest + 1)
                    self.refused(kind, bad, "it must be")

    def test_number_too_many_is_refused(self):
        for kind in KINDS:
            self.refused(kind, number_put(good(kind), 11, 1), "12. number")

    def test_random_numbers_in_the_header_never_crash(self):
        noise = random.Random(11)
        for kind in KINDS:
            for _ in range(12):
                bad = good(kind)
                for index, (least, greatest) in enumerate(KINDS[kind]):
                    top = greatest or 100
                    bad = number_put(bad, index, noise.randint(least, top))
                if kind in ("vecadd", "tpacf"):
                    bad += b"\0"
                self.refused(kind, bad, "")

    def test_values_that_are_no_numbers_are_named(self):
        for kind in FLOATS:
            for bits in 0x7fc00000, 0x7f800000:
                bad = good(kind)
                bad = (bad[:HEADER] + struct.pack("<I", bits) +
                       bad[HEADER + 4:])
                self.refused(kind, bad, "it must be")

    def test_contradicting_nets_and_shells_are_named(self):
        places = struct.unpack_from("<I", good("pns"), 16)[0]
        bad = number_put(good("pns"), 12, 0xffffffff)  # tokens of place 0
        self.refused("pns", bad, "tokens in place 0")
        bad = number_put(good("pns"), 12 + places, 0)  # weight of transition 0
        self.refused("pns", bad, "transition 0 the weight")
        bad = number_put(good("rpes"), 12 + 3, 2)  # axes of shell 0
        self.refused("rpes", bad, "wrong shell 0")
        bad = number_put(good("rpes"), 12 + 4, 0xffffffff)
        self.refused("rpes", bad, "wrong shell 0")

    def test_frames_of_no_whole_macroblocks_are_refused(self):
        self.refused("sad", number_put(good("sad"), 0, 177), "multiples of 16")

    def test_missing_file_and_folder_are_named(self):
        for kind in KINDS:
            for path in self.path, os.path.dirname(self.path):
                status, out, err = run(kind + "_explicit", path)
                self.assertEqual((status, out), (2, ""), err)
                self.assertIn(path, err)
                self.assertEqual(len(err.splitlines()), 1, err)

    def test_bad_set_of_a_sky_is_refused(self):
        with open(self.path, "wb") as file:
            file.write(good("tpacf"))
        status, _, err = run("tpacf_explicit", self.path)
        self.assertEqual(status, 2)
        self.assertIn(self.path + ".000", err)
        with open(os.path.join(DATA, "tpacf.par.000"), "rb") as file:
            content = file.read()
        for bad, says in ((content[:-4], "is truncated"),
                          (number_put(content, 0, 100)[:64 + 1200],
                           "promises"),
                          (content[:100] + b"\xff" * 4 + content[104:],
                           "it must be")):
            with open(self.path + ".000", "wb") as file:
                file.write(bad)
            status, _, err = run("tpacf_explicit", self.path)
            self.assertEqual(status, 2, err)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn(says, err)

    def test_other_forms_refuse_in_the_same_way(self):
        bad = good("cp")[:-1]
        self.refused("cp", bad, "is truncated", form="naive")
        self.refused("cp", bad, "is truncated", form="ported", preload=True)
        self.refused("cp", bad, "is truncated", form="adsm", preload=True)
        bad = good("mri_q")
        bad = bad[:HEADER] + b"\xff" * 4 + bad[HEADER + 4:]
        self.refused("mri_q", bad, "it must be", form="managed")
        self.refused("mri_q", bad, "it must be", form="ported", preload=True)
        self.refused("mri_q", bad, "it must be", form="adsm", preload=True)


class Generator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "out.par")

    def make(self, *words):
        done = subprocess.run([os.path.join(PROGRAMS, "parboil-data"), *words],
                              capture_output=True, timeout=60)
        return done.returncode, done.stderr.decode()

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()

    def test_same_seed_gives_the_same_file_another_one_another(self):
        for kind in KINDS:
            name = kind.replace("_", "-")
            made = []
            for seed in "5", "5", "6":
                status, err = self.make(name, "small", self.path,
                                        "seed=" + seed)
                self.assertEqual(status, 0, err)
                made.append(self.content())
            self.assertEqual(made[0], made[1])
            if kind not in ("vecadd", "tpacf", "rpes"):
                self.assertNotEqual(made[0], made[2], kind)

    def test_made_file_is_accepted(self):
        self.assertEqual(self.make("cp", "small", self.path, "nx=32",
                                   "seed=9")[0], 0)
        status, out, err = run("cp_explicit", self.path)
        self.assertEqual(status, 0, err)
        self.assertIn('"digest"', out)

    def test_bad_arguments_are_named(self):
        for words in ((), ("cp",), ("cp", "tiny", self.path),
                      ("zip", "small", self.path),
                      ("cp", "small", self.path, "nx=0"),
                      ("cp", "small", self.path, "nx=12x"),
                      ("cp", "small", self.path, "colour=1"),
                      ("cp", "small", self.path, "seed=-1"),
                      ("cp", "small", "/dev/null/x.par")):
            status, err = self.make(*words)
            self.assertEqual(status, 2, words)
            self.assertEqual(len(err.splitlines()), 1, err)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
