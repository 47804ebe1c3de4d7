"""What threads and devices do over time, as a picture of rows."""
import argparse
import os

import draw
import text

WIDTH, ROW = 1200, 34
STEPS = 2400 # in the picture's width: what is nearer than that is one
# What lies in what, inner ones later: these are drawn over those before.
KINDS = (('setup', 'setup', '#bdbdbd'), ('io', 'system, libc', '#fdae61'),
         ('launch', 'launch', '#7b3294'), ('memory', 'alloc, free', '#8c510a'),
         ('signal', 'fault', '#404040'), ('up', 'copy up', '#2166ac'),
         ('down', 'copy down', '#1b7837'), ('device', 'copy within', '#80cdc1'),
         ('wait', 'wait', '#f4a582'), ('flight', 'kernels in flight', '#b2abd2'))
COLOURS = {key: colour for key, _, colour in KINDS}


class Lane:
    """Spans of one kind in one row; those that nearly touch are one."""

    def __init__(self, step):
        self.spans = []
        self._step = step

    def add(self, start, end):
        if self.spans and start >= self.spans[-1][0] and \
                start - self.spans[-1][1] < self._step:
            self.spans[-1][1] = max(end, self.spans[-1][1])
        else:
            self.spans.append([start, end])

    def merged(self):
        """In order, though threads add to a device's lane as they come."""
        other = Lane(self._step)
        for start, end in sorted(self.spans):
            other.add(start, end)
        return other.spans


class Chart:
    """Rows: key to lanes. A key is ('thread', tid) or ('device', number, what)."""

    def __init__(self, trace, begin, end):
        self.begin, self.end = begin, end
        self.step = (end - begin) / STEPS
        self.rows = {}
        self._flying = {} # by device: since when kernels are in flight
        self._first_launch = {}
        for event in trace:
            self._add(event)

    def _put(self, row, kind, start, end, who=None):
        start, end = max(start, self.begin), min(end, self.end)
        if start > end or end < self.begin:
            return
        lanes = self.rows.setdefault(row, {})
        # Each thread's come in order, so they are merged as they come.
        lanes.setdefault((kind, who), Lane(self.step)).add(start, end)

    def _add(self, event):
        args = event['args']
        start = event['ts'] / 1e6
        end = start + event['dur'] / 1e6
        device = args.get('device')
        kind = args.get('way', 'device') if event['cat'] == 'transfer' \
            else event['cat']
        self._put(('thread', event['tid']), kind, start, end)
        if device is None:
            return
        if event['cat'] == 'transfer':
            self._put(('device', device, kind), kind, start, end, event['tid'])
        elif event['cat'] == 'launch':
            self._flying.setdefault(device, end)
        elif event['cat'] == 'wait' and device in self._flying:
            since = self._flying.pop(device)
            self._put(('device', device, 'kernels'), 'flight', since,
                      max(since, end))

    def lanes(self, row):
        """Kind and spans, as they are drawn."""
        by_kind = {}
        for (kind, _), lane in self.rows[row].items():
            by_kind.setdefault(kind, Lane(self.step)).spans += lane.spans
        return [(kind, by_kind[kind].merged()) for kind, _, _ in KINDS
                if kind in by_kind]


def ordered(chart, trace):
    """Rows from the top, with what they are called."""
    def name(row):
        if row[0] == 'device':
            return f'device {row[1]} {row[2]}'
        ours = trace.names.get(row[1])
        return 'main thread' if row[1] == trace.pid else \
            f'{ours or "thread"} {row[1]}'
    def order(row):
        return (row[0] == 'device', row[1] != trace.pid, row[1:])
    return [(row, name(row)) for row in sorted(chart.rows, key=order)]


def script(chart, rows):
    data, plots, seen = [], [], set()
    count = len(rows)
    for i, (row, _) in enumerate(rows):
        for kind, spans in chart.lanes(row):
            name = f'd{i}{kind}'
            data.append(draw.block(name, ((start, end, count - 1 - i)
                                          for start, end in spans)))
            plots.append(f'${name} using 1:3:1:2:($3-0.38):($3+0.38) with '
                         f"boxxyerror fillstyle solid 1 border lc rgb "
                         f"'{COLOURS[kind]}' lc rgb '{COLOURS[kind]}' notitle")
            seen.add(kind)
    keys = [f"NaN with boxes fillstyle solid 1 lc rgb '{colour}' title "
            f'{draw.quoted(title)}' for kind, title, colour in KINDS
            if kind in seen]
    tics = ', '.join(f'{draw.quoted(name)} {count - 1 - i}'
                     for i, (_, name) in enumerate(rows))
    return ''.join(data) + f"""
set xlabel 'seconds since the runtime started'
set xrange [{chart.begin}:{chart.end}]
set yrange [-0.6:{count - 0.4}]
set ytics ({tics})
set grid xtics lc rgb '#d0d0d0'
plot {', '.join(plots + keys)}
"""


def seconds(word):
    value = float(word)
    if not 0 <= value < float('inf'):
        raise argparse.ArgumentTypeError(f'{word} is no time of a trace')
    return value


def add_options(parser):
    parser.add_argument('--from', type=seconds, default=0, dest='begin',
                        metavar='S', help='second to begin at')
    parser.add_argument('--to', type=seconds, dest='end', metavar='S',
                        help='second to end at')
    parser.add_argument('--png', metavar='FILE',
                        help='the picture (default: the name of the trace with '
                        '.gantt.png)')


def run(trace, options):
    draw.need()
    end = trace.duration if options.end is None else options.end
    if end <= options.begin:
        raise draw.Failed(f'nothing is from {options.begin} s to {end} s')
    chart = Chart(trace, options.begin, end)
    rows = ordered(chart, trace)
    if not rows:
        raise draw.Failed('no event is in that time' if options.begin or
                          options.end is not None else
                          'this trace has no event')
    path = options.png or os.path.splitext(trace.path)[0] + '.gantt.png'
    draw.picture(path, WIDTH, 110 + ROW * len(rows), script(chart, rows))
    print(f'{path}: {len(rows)} rows, {text.time(end - options.begin)}')
