"""adsm-bench: its arguments, its two kinds of output, and what it notices."""
import json
import os
import subprocess
import tempfile
import unittest

RUNNER = os.path.join(os.environ["PARBOIL_PROGRAMS"], "adsm-bench")
DATA = os.environ["PARBOIL_DATA"]
# What the build makes of the folders of benchmarks.
NAMES = os.environ["BENCHMARKS"].split()


def bench(*words, **more):
    done = subprocess.run([RUNNER, *words], capture_output=True, timeout=100,
                          **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Arguments(unittest.TestCase):
    def test_list_names_every_benchmark(self):
        status, out, err = bench("--list")
        self.assertEqual((status, err), (0, ""))
        self.assertGreater(len(NAMES), 8)
        self.assertEqual(sorted(line.split()[0] for line in out.splitlines()),
                         sorted(NAMES))

    def test_help_names_every_option(self):
        status, out, _ = bench("--help")
        self.assertEqual(status, 0)
        for word in ("--list", "--form", "--protocol", "--block-size",
                     "--rolling-size", "--devices", "--size", "--number",
                     "--input", "--link", "--reps",
                     "--limit", "--no-verify", "--real", "--quiet", "--table",
                     "--json"):
            self.assertIn(word, out)

    def test_bad_arguments_get_one_line_that_names_them(self):
        for words in (("--colour",), ("--reps",), ("--reps", "0"),
                      ("--reps", "100"), ("--reps", "2x"), ("--limit", "-1"),
                      ("--form", "implicit"), ("--protocol", "lazy,eager"),
                      ("--protocol", "lazy,,rolling"), ("--size", "tiny"),
                      ("zip",), ("--input", "x.par"),
                      ("--input", "x.par", "cp", "sad"),
                      ("--devices", "0"), ("--devices", "1,17"),
                      ("--devices", "2x"),
                      ("--block-size", ",".join(["4K"] * 17))):
            status, out, err = bench(*words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertTrue(err.startswith("adsm-bench: "), err)


class Runs(unittest.TestCase):
    def rows(self, *words):
        status, out, err = bench("--quiet", "--json", *words)
        self.assertEqual((status, err), (0, ""), out)
        return [json.loads(line) for line in out.splitlines()]

    def test_json_has_every_case_with_its_bytes_and_parts(self):
        rows = self.rows("--form", "explicit,ported", "--reps", "3", "vecadd")
        self.assertEqual([row["case"] for row in rows],
                         ["explicit/bare", "ported/batch", "ported/lazy",
                          "ported/rolling"])
        self.assertEqual(rows[0]["ratio"], 1)
        self.assertEqual((rows[0]["paired"], rows[0]["used_paired"]), (1, 1))
        for row in rows:
            self.assertGreater(row["paired"], 0)
            self.assertGreater(row["used_paired"], 0)
            self.assertTrue(row["same"] and row["bytes_add_up"], row)
            self.assertLessEqual(row["min"], row["median"])
            self.assertLessEqual(row["median"], row["max"])
            self.assertGreater(row["checks"], 0)
            parts = sum(row[part + "_s"] for part in
                        ("gpu", "copy", "io", "signal", "setup", "cpu"))
            self.assertGreater(parts, 0)

    def test_explicit_programs_run_preloaded_on_request(self):
        rows = self.rows("--form", "explicit,preloaded", "--protocol",
                         "rolling", "vecadd")
        self.assertEqual([row["case"] for row in rows],
                         ["explicit/bare", "preloaded/rolling"])
        self.assertTrue(rows[1]["same"])
        self.assertGreater(rows[1]["copied_up"], 0)
        self.assertIn("faults", rows[1])

    def test_sizes_of_blocks_and_rolling_make_cases_of_their_own(self):
        rows = self.rows("--form", "ported", "--protocol", "lazy,rolling",
                         "--block-size", "4K,1M", "--rolling-size", "1,0",
                         "--no-verify", "vecadd")
        self.assertEqual([row["case"] for row in rows],
                         ["ported/lazy",
                          "ported/rolling/4K/1", "ported/rolling/4K/0",
                          "ported/rolling/1M/1", "ported/rolling/1M/0"])
        self.assertGreater(rows[1]["faults"], rows[3]["faults"])
        self.assertNotIn("checks", rows[0])

    def test_stencil_runs_beside_the_others_without_a_naive_form(self):
        rows = self.rows("--protocol", "rolling", "stencil")
        self.assertEqual([row["case"] for row in rows],
                         ["explicit/bare", "ported/rolling", "adsm/rolling"])
        self.assertEqual(len({row["digest"] for row in rows}), 1)
        self.assertTrue(all(row["bytes_add_up"] for row in rows))

    def test_split_calls_run_on_numbers_of_devices_in_one_form(self):
        rows = self.rows("--form", "explicit,adsm", "--devices", "1,3",
                         "mse", "heat")
        self.assertEqual([(row["bench"], row["case"]) for row in rows],
                         [(name, "adsm/rolling/devices=" + devices)
                          for name in ("mse", "heat") for devices in "13"])
        for row in rows:
            self.assertTrue(row["same"] and row["bytes_add_up"], row)
            self.assertIn("bytes_peer", row)
        rows = self.rows("--protocol", "lazy,batch", "--devices", "2", "mse")
        self.assertEqual([row["case"] for row in rows],
                         ["adsm/lazy/devices=2", "adsm/batch/devices=2"])

    def test_managed_forms_run_when_they_are_asked_for(self):
        rows = self.rows("--form", "explicit,managed,managed-hints",
                         "vecadd", "mri-q", "stencil")
        self.assertEqual([row["case"] for row in rows],
                         3 * ["explicit/bare", "managed/bare",
                              "managed-hints/bare"])
        for row in rows:
            self.assertTrue(row["same"] and row["bytes_add_up"], row)
        # The stencil is verified elsewhere.
        self.assertTrue(all(row["checks"] > 0 for row in rows[:6]))

    def test_managed_forms_are_part_of_the_default_on_hardware_only(self):
        words = "--quiet", "--json", "--no-verify", "vecadd"
        soft = bench(*words)[1]
        # Without a driver every case fails, and has a line nevertheless.
        hardware = bench("--real", *words)[1]
        self.assertNotIn("managed", soft)
        self.assertEqual(
            [json.loads(line)["case"] for line in hardware.splitlines()][:5],
            ["explicit/bare", "overlapped/bare", "naive/bare", "managed/bare",
             "managed-hints/bare"])

    def test_table_says_what_managed_memory_is_on_the_software_device(self):
        note = "say nothing about hardware"
        status, out, err = bench("--quiet", "--form", "managed", "cp", "sad")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.count(note), 1)
        self.assertIn(note, out.splitlines()[-1])
        # What the driver moves is in no count.
        self.assertEqual(out.splitlines()[2].split()[9:13], 4 * ["-"])
        self.assertNotIn(note, bench("--quiet", "--form", "naive", "cp")[1])

    def test_table_has_a_head_a_foot_and_a_line_for_each_case(self):
        status, out, err = bench("--quiet", "--form", "explicit,naive", "cp")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(len(lines), 5)
        self.assertTrue(lines[0].startswith("cp: "))
        self.assertIn("MiB up", lines[1])
        self.assertTrue(all(line.endswith("same") for line in lines[2:4]))

    def test_throttled_link_shows_in_the_time(self):
        open_link = self.rows("--form", "explicit", "--reps", "3", "vecadd")
        slow_link = self.rows("--form", "explicit", "--link", "20MB/s",
                              "vecadd")
        # 2 MiB up, 1 MiB down
        self.assertGreater(slow_link[0]["copy_s"], 0.1)
        self.assertGreater(slow_link[0]["min"], open_link[0]["min"])

    def test_failing_run_is_reported_and_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.par")
            with open(os.path.join(DATA, "cp.par"), "rb") as file:
                content = file.read()
            with open(path, "wb") as file:
                file.write(content[:-1])
            status, out, _ = bench("--quiet", "--json", "--form", "explicit",
                                   "--input", path, "cp")
            self.assertEqual(status, 1)
            self.assertIn("is truncated", json.loads(out)["error"])

    def test_run_past_its_limit_is_ended(self):
        status, out, _ = bench("--quiet", "--json", "--form", "explicit",
                               "--limit", "1", "--link", "1MB/s", "vecadd")
        self.assertEqual(status, 1)
        self.assertIn("not done after 1 s", json.loads(out)["error"])

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, TMPDIR=folder)
            status, _, err = bench("--quiet", "--form", "explicit", "cp",
                                   env=environment)
            self.assertEqual(status, 0, err)
            self.assertEqual(os.listdir(folder), [])
            environment["TMPDIR"] = os.path.join(folder, "none")
            status, _, err = bench("--list", env=environment)
            self.assertEqual(status, 0)
            status, _, err = bench("cp", env=environment)
            self.assertEqual(status, 2)
            self.assertEqual(len(err.splitlines()), 1, err)


if __name__ == "__main__":
    unittest.main()
