"""A heat map of the blocks of an object."""
import argparse
import collections
import math
import os

import draw
import objects
import text

CELLS_MOST = 1 << 14 # more would be smaller than a pixel or two
WIDTH = 1000
PANELS = (('faults', 'faults', '#b2182b'), ('up', 'bytes to devices', '#2166ac'),
          ('down', 'bytes from devices', '#1b7837'))


class NoObject(Exception):
    """There is none to draw; says why."""


def choose(trace, wanted):
    """The object that is asked for, or the one with the most faults."""
    found = objects.Objects()
    for event in trace:
        found.add(event)
    busy = found.busy()
    if wanted is not None:
        busy = [one for one in busy
                if one.address <= wanted < one.address + max(one.bytes, 1)]
        if not busy:
            raise NoObject(f'no object of this trace that is accessed or moved '
                           f'has {wanted:#x}; `top` has those that are')
    if not busy:
        raise NoObject('no object of this trace has faults or moved bytes')
    return max(busy, key=lambda one: (one.faults, one.moved))


class Map:
    """Counts by block: faults, bytes up and down."""

    def __init__(self, trace, one):
        self.block = one.block or one.bytes or 1
        self.count = max(1, math.ceil(one.bytes / self.block))
        self.heat = {key: collections.Counter() for key, _, _ in PANELS}
        found = objects.Objects()
        for event in trace:
            same = found.add(event)
            if same and (same.address, same.number) == (one.address, one.number):
                self._add(event)

    def _add(self, event):
        args = event['args']
        first = args['offset'] // self.block
        if event['cat'] == 'signal':
            self.heat['faults'][min(first, self.count - 1)] += 1
        elif args.get('way') in ('up', 'down'):
            self._spread(self.heat[args['way']], args['offset'], args['bytes'])

    def _spread(self, heat, offset, count):
        """Bytes in a row: those of each block."""
        end = offset + count
        while offset < end:
            index = offset // self.block
            part = min(end, (index + 1) * self.block) - offset
            heat[min(index, self.count - 1)] += part
            offset += part

    def cells(self):
        """Columns and rows of the picture, and blocks that share a cell."""
        shared = math.ceil(self.count / CELLS_MOST)
        cells = math.ceil(self.count / shared)
        columns = cells if cells <= 64 else \
            min(cells, math.ceil(math.sqrt(8 * cells)))
        return columns, math.ceil(cells / columns), shared


def panel(name, heat, layout, colour, title):
    """A colour for each cell."""
    columns, rows, shared = layout
    cells = collections.Counter()
    for index, value in heat.items():
        cells[index // shared] += value
    boxes = [(cell % columns, cell // columns, cells[cell])
             for cell in range(columns * rows)]
    most = max(cells.values(), default=0) or 1
    # Of one row gnuplot makes no image.
    style = 'using 1:2:3 with image' if min(columns, rows) > 1 else \
        'using 1:2:(0.5):(0.5):3 with boxxyerror fillstyle solid 1 noborder ' \
        'linecolor palette'
    return draw.block(name, boxes) + f"""
set title {draw.quoted(title)} offset 0,-0.5
set palette defined (0 '#f7f7f7', 1 '{colour}')
set cbrange [0:{most}]
{'set' if heat else 'unset'} colorbox
set xrange [-0.5:{columns - 0.5}]
set yrange [{rows - 0.5}:-0.5]
plot ${name} {style} notitle
"""


def ticks(count, blocks):
    """Some places along an axis, with the blocks that begin there."""
    step = 10 ** max(0, math.ceil(math.log10(count / 10)))
    while count / step > 10:
        step *= 2
    return ', '.join(f"'{at * blocks}' {at}" for at in range(0, count, step))


def script(heat_map, one):
    layout = columns, rows, shared = heat_map.cells()
    of_cell = text.size(heat_map.block * shared)
    unit = 'a block' if shared == 1 else f'{shared} blocks'
    parts = [panel(f'p{i}', heat_map.heat[key], layout, colour,
                   f'{title}: {total(key, heat_map)}')
             for i, (key, title, colour) in enumerate(PANELS)]
    title = f'{one.name}, {text.size(one.bytes)} in {heat_map.count} blocks of ' \
            f'{text.size(heat_map.block)}; a cell is {unit} ({of_cell}), ' \
            f'{columns} in a row'
    return f"""
set multiplot layout {len(PANELS)},1 title {draw.quoted(title)}
set border 15 lc rgb '#808080'
set lmargin at screen 0.08
set rmargin at screen 0.86
set xtics ({ticks(columns, shared)})
set ytics ({ticks(rows, columns * shared)})
set cbtics format '%.1s%c'
set object rectangle from graph 0,0 to graph 1,1 behind fc rgb '#f7f7f7' lw 0
""" + ''.join(parts) + 'unset multiplot\n'


def total(key, heat_map):
    value = sum(heat_map.heat[key].values())
    return str(value) if key == 'faults' else text.size(value)


def address(word):
    try:
        return int(word, 16)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{word}' is no address") from None


def add_options(parser):
    parser.add_argument('--object', type=address, metavar='ADDRESS',
                        help='the object that has this address; the one with '
                        'the most faults where none is said')
    parser.add_argument('--png', metavar='FILE',
                        help='the picture (default: the name of the trace with '
                        '.blocks.png)')


def run(trace, options):
    draw.need()
    one = choose(trace, options.object)
    heat_map = Map(trace, one)
    path = options.png or os.path.splitext(trace.path)[0] + '.blocks.png'
    columns, rows, _ = heat_map.cells()
    height = 60 + 3 * max(130, min(400, 60 + rows * WIDTH // columns))
    draw.picture(path, WIDTH, height, script(heat_map, one))
    print(f'{path}: {one.name}, {text.size(one.bytes)} in {heat_map.count} '
          f'blocks of {text.size(heat_map.block)}: {one.faults} faults, '
          f'{total("up", heat_map)} up, {total("down", heat_map)} down')
