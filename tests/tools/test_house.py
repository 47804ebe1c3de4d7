#!/usr/bin/env python3
"""tools/lib/house.py: what it counts of a made-up tree.

test_house.py SOURCE-ROOT
"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / 'common'),
                str(ROOT / 'tools/lib')]
import house  # noqa: E402
import suite  # noqa: E402


def variables(text):
    return house.variables(house.bare(text))


class House(unittest.TestCase):
    def test_a_function_is_between_braces_in_the_first_column(self):
        self.assertEqual(house.functions(
            'int a(void)\n{\n    return 0;\n}\n'
            'struct b {\n    int c;\n};\n'
            'int d(void)\n{\n    if (1) {\n    }\n    return 0;\n}\n'), [3, 5])

    def test_variables_are_what_can_be_written(self):
        for text, count in (
                ('static int a;\n', 1),
                ('int a, b[2], c = 3;\n', 3),
                ('static _Thread_local char text[40];\n', 1),
                ('static const struct ops *ops;\n', 1),
                ('static const struct ops *const ops = &other;\n', 0),
                ('static const int table[] = {\n    1,\n    2,\n};\n', 0),
                ('static struct {\n    int a;\n    int b;\n} all;\n', 1),
                ('static struct pool pool = {\n    .size = 1,\n};\n', 1),
                ('static void (*way_back)(int, void *);\n', 1),
                ('struct a {\n    int b;\n};\n', 0),
                ('enum { A, B };\n', 0),
                ('typedef int (*fn)(void);\n', 0),
                ('extern int a;\nvoid f(int a, int b);\n', 0),
                ('/* int a; */ // int b;\n#define A int c;\n', 0),
                ('int f(int a)\n{\n    int b;\n    static int c;\n'
                 '    static const int d = 1;\n    return a;\n}\n', 1)):
            self.assertEqual(variables(text), count, text)

    def test_cycles_are_of_modules(self):
        files = {'libadsm/mm/a.h': '#include "mm/b.h"\n',
                 'libadsm/mm/b.h': '',
                 'libadsm/mm/b.c': '#include "mm/b.h"\n#include "mm/c.h"\n',
                 'libadsm/mm/c.h': '#include "mm/a.h"\n',
                 'libadsm/mm/d.c': '#include "mm/a.h"\n#include <mm/d.h>\n'}
        self.assertEqual(house.largest(files, files), (3, 4))
        files['libadsm/mm/c.h'] = ''
        self.assertEqual(house.largest(files, files), (0, 4))

    def test_rooms_are_the_runtimes_folders(self):
        self.assertEqual(house.room_of('libadsm/mm/a.c'), 'libadsm/mm')
        self.assertEqual(house.room_of('interpose/hook.h'), 'interpose')
        self.assertIsNone(house.room_of('tests/mm/a.c'))
        self.assertIsNone(house.room_of('libadsm/mm/meson.build'))


if __name__ == '__main__':
    suite.main()
