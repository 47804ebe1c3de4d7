"""The forms on managed memory, with hints and without, bare and preloaded.

Their results are the explicit form's byte for byte and the CPU's within the
tolerance, and the preloaded runtime leaves their memory alone.
"""
import json
import os
import subprocess
import tempfile
import unittest

PROGRAMS = os.environ["PARBOIL_PROGRAMS"]
SOFTCUDA = os.environ["DEVICE_DIR"]
PRELOADED = os.environ["PRELOADED"]  # adsm-run
NAMES = ["cp", "mri_fhd", "mri_q", "pns", "rpes", "sad", "tpacf", "vecadd"]
FORMS = ["managed", "managed-hints"]


class Managed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "out")
        self.counters = os.path.join(folder.name, "counters.json")

    def run_form(self, program, *before, words=("--verify",), **environment):
        """Run one program; (what it wrote, its report)."""
        done = subprocess.run(
            [*before, os.path.join(PROGRAMS, program), "--json", "--out",
             self.out, *words], env=dict(os.environ, **environment),
            capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""), program)
        with open(self.out, "rb") as file:
            return file.read(), json.loads(done.stdout)

    def each(self):
        """Name, form, and what the explicit form gives."""
        for name in NAMES:
            want = self.run_form(name + "_explicit", words=(),
                                 LD_LIBRARY_PATH=SOFTCUDA)
            self.assertGreater(len(want[0]), 0)
            for form in FORMS:
                yield name, form, want

    def test_results_are_the_explicit_forms_bytes(self):
        for name, form, want in self.each():
            got = self.run_form(f"{name}_{form}", LD_LIBRARY_PATH=SOFTCUDA)
            self.assertEqual(got[0], want[0], f"{name}_{form}")
            self.assertEqual(got[1]["launches"], want[1]["launches"])
            self.assertGreater(got[1]["checks"], 0)
            self.assertEqual(got[1]["copied_down"], 0)
            # Constant memory is filled by copies and managed memory is not.
            self.assertEqual(got[1]["copied_up"] > 0,
                             name in ("mri_fhd", "mri_q"), name)

    def test_preloaded_results_are_the_explicit_forms_bytes(self):
        for name, form, want in self.each():
            got = self.run_form(f"{name}_{form}", PRELOADED, "--soft",
                                "--stats-file", self.counters, "--", words=())
            self.assertEqual(got[0], want[0], f"{name}_{form}")
            # A runtime that shared nothing has nothing to write down.
            self.assertFalse(os.path.exists(self.counters), form)

    def test_only_the_form_with_hints_can_give_them(self):
        for name in NAMES:
            for form in FORMS:
                path = os.path.join(PROGRAMS, f"{name}_{form}")
                with open(path, "rb") as file:
                    content = file.read()
                self.assertTrue(b"cuMemAllocManaged" in content, path)
                for call in b"cuMemPrefetchAsync", b"cuMemAdvise":
                    self.assertEqual(call in content, form == "managed-hints",
                                     path)


if __name__ == "__main__":
    unittest.main()
