"""The form with copies by hand beside the device's work.

Its results are the explicit form's byte for byte, also where results come in
several pieces, in an odd one, and where a program ends before its last step.
"""
import json
import os
import struct
import subprocess
import tempfile
import unittest

PROGRAMS = os.environ["PARBOIL_PROGRAMS"]
SOFTCUDA = os.environ["DEVICE_DIR"]
HEADER = struct.Struct("<8s8s12I")
# Numbers with which results have more than one piece of 4 MiB, or of which
# loops that are one ahead could lose the first or the last.
SHAPES = {
    "cp": [("planes=1", "atoms=50"), ("planes=3", "atoms=50")],
    "mri-fhd": [("voxels=1200001", "samples=257"), ("samples=1",)],
    "mri-q": [("voxels=1200001", "samples=257"), ("samples=1",)],
    "pns": [("runs=40001", "steps=40"), ("runs=7", "steps=1")],
    "rpes": [("shells=35",), ("shells=1",)],
    "sad": [("range=25",), ("width=16", "height=16", "range=1")],
    "tpacf": [("random_sets=1",)],
    "vecadd": [("elements=3145733",), ("elements=2097152",), ("elements=1",)],
}


class Overlapped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.input = os.path.join(folder.name, "in.par")

    def run_form(self, name, form, *words, **environment):
        """What it wrote, and its report."""
        out = os.path.join(self.folder, "out")
        program = f"{name.replace('-', '_')}_{form}"
        done = subprocess.run(
            [os.path.join(PROGRAMS, program), "--json", "--out", out, *words],
            env=dict(os.environ, LD_LIBRARY_PATH=SOFTCUDA, **environment),
            capture_output=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, b""), program)
        with open(out, "rb") as file:
            return file.read(), json.loads(done.stdout)

    def same(self, name, *words, **environment):
        """The report of the form, whose result is the explicit form's."""
        want, told = self.run_form(name, "explicit", *words)
        got, report = self.run_form(name, "overlapped", *words, **environment)
        self.assertGreater(len(want), 0)
        self.assertTrue(got == want, (name, words, len(got), len(want)))
        self.assertEqual(report["digest"], told["digest"])
        return report

    def test_results_are_the_explicit_forms_and_verified(self):
        for name in SHAPES:
            self.assertGreater(self.same(name, "--verify")["checks"], 0)

    def test_results_in_pieces_are_the_explicit_forms(self):
        for name, shapes in SHAPES.items():
            for numbers in shapes:
                subprocess.run([os.path.join(PROGRAMS, "parboil-data"), name,
                                "small", self.input, *numbers], check=True)
                # Copies are slower than the CPU: what does not wait is wrong.
                self.same(name, "--input", self.input, SOFTCUDA_LINK="20MB/s")

    def test_runs_that_are_stuck_end_when_the_explicit_form_does(self):
        # One place with five tokens, and a transition that takes one away.
        with open(self.input, "wb") as file:
            file.write(HEADER.pack(b"ADSMPAR1", b"pns", 1, 1, 1, 300, 90, 1,
                                   *[0] * 6))
            file.write(struct.pack("<6I", 5, 1, 0, 0, 1, 0))
        self.same("pns", "--input", self.input, "--verify")
        out = self.run_form("pns", "overlapped", "--input", self.input)[0]
        self.assertEqual(out[4 * 300:],
                         struct.pack("<6I", *range(300, 1501, 300), 1500))

    def test_memory_is_page_locked_and_copies_are_asynchronous(self):
        for name in SHAPES:
            path = os.path.join(PROGRAMS, name.replace("-", "_"))
            with open(path + "_overlapped", "rb") as file:
                content = file.read()
            for call in (b"cuMemHostAlloc", b"cuMemcpyHtoDAsync",
                         b"cuStreamWaitEvent"):
                self.assertIn(call, content, name)
                with open(path + "_explicit", "rb") as file:
                    self.assertNotIn(call, file.read(), name)


if __name__ == "__main__":
    unittest.main()
