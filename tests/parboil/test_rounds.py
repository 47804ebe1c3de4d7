"""adsm-bench's rounds, marks and comparisons: that its figures can be trusted.

Order changes from round to round, set-up is told from work, cases are compared
with the better one by hand, and a form that computes something else is found.
"""
import collections
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

PROGRAMS = os.environ["PARBOIL_PROGRAMS"]
SOFTCUDA = os.environ["DEVICE_DIR"]
DATA = os.environ["PARBOIL_DATA"]
ADSM_RUN = os.environ["PRELOADED"]
RUNNER = os.path.join(PROGRAMS, "adsm-bench")


def bench(*words, runner=RUNNER, **environment):
    done = subprocess.run([runner, "--quiet", *words], capture_output=True,
                          timeout=200, env=dict(os.environ, **environment))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Rows(unittest.TestCase):
    def rows(self, *words, wanted=0, **more):
        status, out, err = bench("--json", "--no-verify", *words, **more)
        self.assertEqual((status, err), (wanted, ""), out)
        return {row["case"]: row for row in map(json.loads, out.splitlines())}


class Order(Rows):
    def orders(self, forms, reps):
        """For each round the numbers of the cases in the order they ran."""
        rows = list(self.rows("--form", forms, "--protocol", "lazy,rolling",
                              "--reps", str(reps), "--number", "elements=1000",
                              "vecadd").values())
        self.assertTrue(all(len(row["places"]) == reps for row in rows))
        return [sorted(range(len(rows)), key=lambda i: rows[i]["places"][r])
                for r in range(reps)]

    def check(self, orders, follows):
        count = len(orders[0])
        for order in orders:
            self.assertEqual(sorted(order), list(range(count)))
        for place in range(count):
            at_place = collections.Counter(order[place] for order in orders)
            self.assertEqual(set(at_place.values()), {len(orders) / count},
                             orders)
        pairs = collections.Counter(pair for order in orders
                                    for pair in zip(order, order[1:]))
        self.assertEqual(len(pairs), count * (count - 1), orders)
        self.assertEqual(set(pairs.values()), {follows}, orders)

    def test_even_number_of_cases_has_every_place_and_neighbour_once(self):
        self.check(self.orders("explicit,overlapped,ported", 4), 1)

    def test_odd_number_of_cases_has_every_neighbour_in_twice_the_rounds(self):
        self.check(self.orders("explicit,ported", 6), 2)


class Warm(unittest.TestCase):
    def test_files_are_read_before_the_first_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path, said = (os.path.join(folder, name) for name in ("in", "said"))
            for name in path, path + ".000":
                with open(name, "wb") as file:
                    file.write(b"x" * 9999)
                os.utime(name, (1, 2))
            with open(path, "rb") as file:
                file.read()
            if os.stat(path).st_atime < 2:
                self.skipTest("this file system keeps no times of access")
            os.utime(path, (1, 2))
            # A program that says when its input was read, and reads nothing.
            runner = tree(folder, "vecadd_explicit",
                          f'stat -c %X "$2" "$2.000" > {said}')
            bench("--form", "explicit", "--input", path, "vecadd",
                  runner=runner)
            with open(said, encoding="utf-8") as file:
                self.assertTrue(all(int(line) > 2 for line in file), said)


class Marks(Rows):
    def test_set_up_work_and_the_rest_are_told_apart_in_every_form(self):
        for name in ("cp", "mri-fhd", "mri-q", "pns", "rpes", "sad", "tpacf",
                     "vecadd"):
            rows = self.rows("--form", "explicit,overlapped,naive,managed,"
                             "managed-hints,ported,adsm", "--protocol",
                             "rolling,async", name)
            self.assertEqual(len(rows), 9)
            for case, row in rows.items():
                parts = [row[part + "_s"] for part in
                         ("before", "work", "after")]
                self.assertTrue(all(part > 0 for part in parts), row)
                self.assertAlmostEqual(sum(parts), row["whole_s"], 4, row)
                # main() begins behind the process, and ends with the work.
                self.assertLess(row["work_s"], row["median"], case)
                self.assertLess(row["median"],
                                row["before_s"] + row["work_s"], case)

    def test_work_begins_when_the_input_is_read(self):
        for name in "cp", "mri_fhd", "mri_q", "pns", "rpes", "sad":
            for form, before in (("explicit", []), ("overlapped", []),
                                 ("ported", [ADSM_RUN, "--soft", "--"])):
                with tempfile.TemporaryDirectory() as folder:
                    pipe = os.path.join(folder, "in")
                    os.mkfifo(pipe)
                    program = subprocess.Popen(
                        [*before, os.path.join(PROGRAMS, f"{name}_{form}"),
                         "--json", "--input", pipe], stdout=subprocess.PIPE,
                        env=dict(os.environ, LD_LIBRARY_PATH=SOFTCUDA))
                    with open(pipe, "wb") as file:
                        file.write(small(name)[:-4])
                        file.flush()
                        time.sleep(0.1)
                        read = time.monotonic()
                        file.write(small(name)[-4:])
                    report = json.loads(program.communicate(timeout=60)[0])
                self.assertGreaterEqual(report["work_at"], read, (name, form))
                self.assertGreater(report["ended_at"], report["work_at"])

    def test_copies_are_work(self):
        link = self.rows("--form", "explicit,overlapped", "--link", "20MB/s",
                         "mri-q", "--number", "voxels=200000,samples=1")
        for row in link.values():
            self.assertGreater(row["work_s"], 0.15)
            self.assertLess(row["before_s"], row["work_s"])

    def test_slow_start_of_a_program_is_no_work(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = tree(folder, "vecadd_overlapped",
                          'sleep 0.6; "$program" "$@"; sleep 0.4')
            rows = self.rows("--form", "explicit,overlapped", "vecadd",
                             runner=runner)
        slow, quick = rows["overlapped/bare"], rows["explicit/bare"]
        self.assertGreater(slow["before_s"], 0.6)
        self.assertGreater(slow["after_s"], 0.4)
        self.assertLess(slow["work_s"], 0.4)
        self.assertEqual(slow["whole_against"], "explicit/bare")
        self.assertGreater(slow["whole_ratio"], 1)
        self.assertLess(quick["after_s"], 0.4)

    def test_programs_without_marks_have_no_such_times(self):
        row = self.rows("--form", "explicit", "stencil")["explicit/bare"]
        self.assertNotIn("work_s", row)
        self.assertIn("ratio", row)


class Comparison(Rows):
    def test_every_row_names_the_better_one_by_hand(self):
        rows = self.rows("--form", "explicit,overlapped,naive,ported",
                         "--protocol", "rolling", "--reps", "3", "--link",
                         "200MB/s", "sad")
        hand = {case: rows[case] for case in ("explicit/bare",
                                              "overlapped/bare")}
        for of, time in (("", "median"), ("work_", "work_s"),
                         ("whole_", "whole_s")):
            best = min(hand, key=lambda case: hand[case][time])
            for row in rows.values():
                self.assertEqual(row[of + "against"], best, of)
                self.assertGreater(row[of + "ratio"], 0)
            self.assertEqual(rows[best][of + "ratio"], 1)

    def test_first_case_is_what_rows_compare_to_where_none_is_by_hand(self):
        rows = self.rows("--form", "naive,ported", "--protocol", "rolling",
                         "vecadd")
        self.assertEqual({row["work_against"] for row in rows.values()},
                         {"naive/bare"})

    def test_table_says_what_its_ratios_are_over(self):
        status, out, _ = bench("--form", "overlapped,ported", "--protocol",
                               "rolling", "--no-verify", "vecadd")
        self.assertEqual(status, 0)
        self.assertEqual(out.splitlines()[-1],
                         "  ratio over overlapped/bare, work over "
                         "overlapped/bare, whole over overlapped/bare")

    def test_form_with_another_result_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = tree(folder, "vecadd_overlapped",
                          "\"$program\" \"$@\" | sed 's/\"digest\":\"./&f/'")
            rows = self.rows("--form", "explicit,overlapped", "vecadd",
                             runner=runner, wanted=1)
            self.assertEqual([row["same"] for row in rows.values()],
                             [True, False])
            status, out, _ = bench("--form", "explicit,overlapped", "vecadd",
                                   runner=runner)
            self.assertEqual((status, out.count("DIFFERENT")), (1, 1))

    def test_async_is_rolling_with_that_engine(self):
        rows = self.rows("--form", "ported", "--protocol", "rolling,async",
                         "--block-size", "4K", "vecadd")
        self.assertEqual(list(rows), ["ported/rolling/4K", "ported/async/4K"])
        with tempfile.TemporaryDirectory() as folder:
            said = os.path.join(folder, "said")
            runner = tree(folder, "vecadd_ported", "echo $ADSM_PROTOCOL "
                          f"$ADSM_FAULT_ENGINE >> {said}")
            bench("--form", "ported", "--protocol", "lazy,async", "vecadd",
                  runner=runner)
            with open(said, encoding="utf-8") as file:
                self.assertEqual(file.read(), "lazy\nrolling async\n")


class Sizes(Rows):
    def test_size_gpu_runs_with_smaller_numbers(self):
        rows = self.rows("--size", "gpu", "--form",
                         "explicit,overlapped,ported", "--protocol", "rolling",
                         "--number", "shells=5", "rpes")
        self.assertEqual({row["size"] for row in rows.values()},
                         {"gpu shells=5"})

    def test_sizes_that_cannot_be_had_get_one_line(self):
        for words, says in (
                (("--size", "huge", "cp"), "no size 'huge'"),
                (("--size", "gpu", "stencil"), "no size gpu of 'stencil'"),
                (("--size", "gpu", "lu", "cp"), "no size gpu of 'lu'"),
                (("--number", "atoms=5"), "name the one benchmark"),
                (("--number", "atoms=5", "cp", "sad"), "name the one"),
                (("--number", "edge=5", "stencil"), "no numbers"),
                (("--number", "atoms=5", "--input", "x", "cp"),
                 "its own numbers")):
            status, out, err = bench(*words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn(says, err)
        for number, says in (("atoms=0", "out of range"),
                             ("atoms", "not of the form"),
                             ("mass=1", "no such number")):
            status, out, err = bench("--number", number, "cp")
            self.assertEqual((status, out), (1, ""), number)
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn(says, err)

    def test_generators_say_which_sizes_there_are(self):
        ranges = os.path.join(PROGRAMS, "..", "ranges", "ranges-data")
        for program, size, says in (("parboil-data", "huge", "or gpu, not"),
                                    (ranges, "gpu", "no size gpu of 'lu'")):
            kind = "lu" if program == ranges else "cp"
            done = subprocess.run([os.path.join(PROGRAMS, program), kind, size,
                                   "/dev/null"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


def small(name):
    """The input that comes with a program."""
    with open(os.path.join(DATA, name + ".par"), "rb") as file:
        return file.read()


def tree(folder, spoilt, script):
    """A build of its own in which one program is a script around it."""
    programs = os.path.join(folder, "bench", "parboil")
    os.makedirs(programs)
    os.makedirs(os.path.join(folder, "tools"))
    os.symlink(SOFTCUDA, os.path.join(folder, "tools", "softcuda"))
    os.symlink(ADSM_RUN, os.path.join(folder, "tools", "adsm-run"))
    shutil.copy(RUNNER, programs)
    for name in ("parboil-data", "vecadd_explicit", "vecadd_overlapped",
                 "vecadd_ported"):
        os.symlink(os.path.join(PROGRAMS, name), os.path.join(programs, name))
    path = os.path.join(programs, spoilt)
    os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nprogram={PROGRAMS}/{spoilt}\n{script}\n")
    os.chmod(path, 0o755)
    return os.path.join(programs, "adsm-bench")


if __name__ == "__main__":
    unittest.main()
