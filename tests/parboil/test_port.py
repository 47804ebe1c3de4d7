"""The ports are made by deleting, and the check would notice if not."""
import os
import sys
import unittest

sys.path.insert(0, os.environ["FIGURES"])
import lines  # noqa: E402 (found through the path above)


class Ports(unittest.TestCase):
    def test_every_port_only_deletes_and_gets_shorter(self):
        rows = list(lines.table())
        self.assertEqual(len(rows), 9)
        for name, old, new, adsm, deleted, shortened in rows:
            self.assertLess(new, old, name)
            self.assertEqual(old - deleted, new, name)
            self.assertLess(adsm, old, name)
            # A shortened line names what the deleted copies had named.
            self.assertLessEqual(shortened, 6, name)

    def test_ports_say_nothing_of_this_library(self):
        for _, explicit, ported, _ in lines.programs():
            for path in explicit, ported:
                self.assertNotIn("adsm", "\n".join(lines.code(path)).lower())


class Rule(unittest.TestCase):
    def test_deleted_and_shortened_lines_are_counted(self):
        old = ["a = host_x;", "upload(x, host_x);", "show(host_x);"]
        self.assertEqual(lines.port(old, ["a = x;", "show(x);"]), (1, 2))
        self.assertEqual(lines.port(old, old), (0, 0))

    def test_line_put_in_is_found(self):
        self.assertIsNone(lines.port(["a;", "b;"], ["a;", "c;", "b;"]))
        self.assertIsNone(lines.port(["a;"], ["a;", "a;"]))
        self.assertIsNone(lines.port(["use(x);"], ["use(x, y);"]))

    def test_line_cut_to_less_than_half_is_another_line(self):
        self.assertIsNone(lines.port(["free(host_histogram);"], ["h;"]))


if __name__ == "__main__":
    unittest.main()
