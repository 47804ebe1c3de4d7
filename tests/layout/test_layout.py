#!/usr/bin/env python3
"""The tree keeps to the include table, and the check finds what it should.

test_layout.py SOURCE-ROOT
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import layout  # noqa: E402
import suite  # noqa: E402

ROOT = pathlib.Path(sys.argv.pop(1))


def planted(files):
    """Violations in a small tree made of {name: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
        return layout.check_tree(folder)


class Tree(unittest.TestCase):
    def test_this_tree_keeps_to_the_table(self):
        found = layout.check_tree(ROOT)
        self.assertFalse(found, '\n' + '\n'.join(found))

    def test_this_tree_is_looked_at(self):
        seen = layout.sources(ROOT)
        self.assertIn('libadsm/adsm.h', seen)
        self.assertTrue(any(name.startswith('tests/') for name in seen))


    def test_table_has_no_cycle(self):
        below = {row: set(names) - {row} for row, names in layout.TABLE.items()}
        while below:
            bottom = {row for row, names in below.items()
                      if not names & below.keys()}
            self.assertTrue(bottom, f'rows of a cycle: {sorted(below)}')
            for row in bottom:
                del below[row]


class Planted(unittest.TestCase):
    def one(self, files, words):
        found = planted(files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_lower_includes_upper_found(self):
        self.one({'libadsm/os/vm.c': '#include "mm/object.h"\n',
                  'libadsm/mm/object.h': ''},
                 'libadsm/os may not include libadsm/mm')

    def test_protocols_include_os_found(self):
        self.one({'protocols/lazy.c': '\n#  include "os/vm.h"\n',
                  'libadsm/os/vm.h': ''},
                 'protocols/lazy.c:2: "os/vm.h": protocols may not include')

    def test_softcuda_includes_libadsm_found(self):
        self.one({'tools/softcuda/driver/api.c':
                  '#include "../../../libadsm/adsm.h"\n',
                  'libadsm/adsm.h': ''}, 'may not include libadsm')

    def test_softcuda_native_includes_exec_found(self):
        self.one({'tools/softcuda/native/value.c': '#include "exec/exec.h"\n',
                  'tools/softcuda/exec/exec.h': ''},
                 'softcuda/native may not include tools/softcuda/exec')

    def test_ptx_includes_softcuda_found(self):
        self.one({'ptx/lex.c': '#include "tools/softcuda/exec/exec.h"\n',
                  'tools/softcuda/exec/exec.h': ''},
                 'ptx may not include tools/softcuda/exec')

    def test_softcuda_driver_includes_device_found(self):
        self.one({'tools/softcuda/driver/link.c': '#include "device/x.h"\n',
                  'tools/softcuda/device/x.h': ''},
                 'softcuda/driver may not include tools/softcuda/device')

    def test_softcuda_tests_include_libadsm_tests_found(self):
        self.one({'tools/softcuda/tests/driver/test_x.c':
                  '#include "common/no_handler.h"\n',
                  'tests/common/no_handler.h': ''}, 'no file of this tree')

    def test_softcuda_header_in_brackets_found(self):
        self.one({'tools/softcuda/driver/link.c': '#include <exec/exec.h>\n',
                  'tools/softcuda/exec/exec.h': ''}, 'use quotes')

    def test_neutral_engine_includes_back_end_found(self):
        self.one({'interpose/device/work.c':
                  '#include "interpose/cuda/result.h"\n',
                  'interpose/cuda/result.h': ''},
                 'interpose/device may not include interpose/cuda')

    def test_tool_includes_mm_found(self):
        self.one({'tools/adsm-run/main.c': '#include "mm/object.h"\n',
                  'libadsm/mm/object.h': ''}, 'tools may not include')

    def test_relative_way_round_found(self):
        self.one({'libadsm/base/log.c': '#include "../os/vm.h"\n',
                  'libadsm/os/vm.h': ''},
                 'libadsm/base may not include libadsm/os')

    def test_include_without_layer_found(self):
        self.one({'libadsm/os/vm.c': '#include "vm.h"\n',
                  'libadsm/os/vm.h': ''}, 'does not name its layer')

    def test_foreign_header_in_quotes_found(self):
        self.one({'libadsm/os/vm.c': '#include "sigsegv.h"\n'},
                 'no file of this tree')

    def test_own_header_in_brackets_found(self):
        self.one({'libadsm/mm/object.c': '#include <base/log.h>\n',
                  'libadsm/base/log.h': ''}, 'use quotes')

    def test_lower_room_includes_upper_found(self):
        self.one({'libadsm/mm/object/list.c': '#include "mm/state/run.h"\n',
                  'libadsm/mm/state/run.h': ''},
                 'libadsm/mm/object may not include libadsm/mm/state')

    def test_cycle_across_rooms_found(self):
        found = planted({
            'libadsm/mm/watch/twin.h': '#include "mm/object/block.h"\n',
            'libadsm/mm/object/block.c': '#include "mm/object/block.h"\n'
                                         '#include "mm/watch/twin.h"\n',
            'libadsm/mm/object/block.h': ''})
        self.assertIn('libadsm/mm/object/block libadsm/mm/watch/twin: '
                      'an include cycle across rooms', found)

    def ring(self, count, folder):
        """So many modules of a folder, each of which calls the next."""
        inner = folder.removeprefix('libadsm/')
        return {name: text for i in range(count) for name, text in (
            (f'{folder}/m{i}.h', ''),
            (f'{folder}/m{i}.c', f'#include "{inner}/m{(i + 1) % count}.h"\n'))}

    def test_cycle_of_many_modules_found(self):
        for folder in ('libadsm/mm/state', 'libadsm/call', 'libadsm/base',
                       'interpose/calls'):
            self.one(self.ring(6, folder),
                     'an include cycle of 6 modules, at most 5')

    def test_cycle_of_hooks_found(self):
        self.one({'interpose/cuda/driver.c':
                  '#include "interpose/cuda/work.h"\n',
                  'interpose/cuda/work.h':
                  '#include "interpose/cuda/driver.h"\n',
                  'interpose/cuda/driver.h': ''},
                 'an include cycle of 2 modules, at most 1')

    def test_cycle_of_few_modules_is_allowed(self):
        self.assertEqual(planted(self.ring(5, 'libadsm/mm/state')), [])

    def test_module_that_includes_upwards_found(self):
        self.one({'libadsm/accel/lane.c': '#include "accel/dma.h"\n',
                  'libadsm/accel/dma.h': ''},
                 'libadsm/accel/lane: libadsm/accel has libadsm/accel/dma above')
        self.one({'libadsm/accel/device.c': '#include "accel/accel.h"\n',
                  'libadsm/accel/accel.h': ''},
                 'libadsm/accel/device: libadsm/accel has libadsm/accel/accel')

    def test_module_that_no_line_has_found(self):
        self.one({'libadsm/accel/new.c': ''}, 'no line of ORDER has it')

    def test_parts_of_another_module_found(self):
        for name in ('mm/object/lists.c', 'mm/object/block.c', 'mm/watch/list.c'):
            self.one({f'libadsm/{name}': '#include "mm/object/list_parts.h"\n',
                      'libadsm/mm/object/list_parts.h': ''},
                     '"mm/object/list_parts.h" is private to its module')

    def test_parts_of_the_module_are_allowed(self):
        self.assertEqual(planted({
            'libadsm/mm/object/list.c': '#include "mm/object/list_parts.h"\n',
            'libadsm/mm/object/list_walk.c':
                '#include "mm/object/list_parts.h"\n',
            'libadsm/mm/object/list_parts.h': ''}), [])

    def test_path_that_can_be_made_found(self):
        for line in ('open("%s/a")', "'#!%s/shell'", '"--volume %s.vol"',
                     '"CACHE=%s"'):
            self.one({'tests/base/test_x.c': line % '/'.join(['', 'no'])},
                     'test_x.c:1: /no')
        self.one({'tools/softcuda/tests/x.py':
                  "\n'%s'" % '/'.join(['', 'no', 'x'])},
                 'x.py:2: /no/x can be made')

    def test_path_nobody_can_make_is_allowed(self):
        self.assertEqual(planted({
            'tests/base/test_x.c': '"/dev/null/x" "%s/usr" "a/b" "--o /tmp/x"'
                                   '"/memfd:x"',
        }), [])

    def test_long_file_found(self):
        self.one({'libadsm/base/log.c': '\n' * 801}, '801 lines')

    def test_long_test_found(self):
        self.one({'tests/mm/test_x.c': '\n' * 801}, '801 lines')

    def test_allowed_tree_is_clean(self):
        self.assertEqual(planted({
            'libadsm/adsm.h': '',
            'libadsm/base/log.h': '#include "adsm.h"\n#include <stdio.h>\n',
            'libadsm/os/vm.h': '#include "base/log.h"\n',
            'libadsm/mm/object.c': '#include "mm/object.h"\n'
                                   '#include "os/vm.h"\n'
                                   '#include "protocols/table.h"\n',
            'libadsm/mm/object.h': '', 'protocols/table.h': '',
            'libadsm/init.c': '#include "mm/object.h"\n',
            'interpose/io.c': '#include "mm/object.h"\n'
                              '#include "interpose/hook.h"\n',
            'interpose/hook.h': '\n' * 800,
            'tools/adsm-run/main.c': '#include "args.h"\n',
            'tools/adsm-run/args.h': '#include "base/log.h"\n',
            'tools/softcuda/exec/lower.c': '#include "ptx/lex.h"\n',
            'ptx/lex.h': '',
            'tests/mm/test_x.c': '#include "libadsm/mm/object.h"\n',
        }), [])


if __name__ == '__main__':
    suite.main()
