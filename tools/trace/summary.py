"""Where the time of a program goes, as Fig. 10 of the paper on ADSM has it."""
import collections
import json

import spans
import text

# What a thread does, in the order it is shown: key, what it is called.
ROWS = (('cpu', 'CPU'),
        ('wait', 'GPU, waited for'),
        ('up', 'copies to devices'),
        ('down', 'copies from devices'),
        ('device', 'copies within devices'),
        ('signal', 'accesses that fault'),
        ('io', 'calls of system and libc'),
        ('launch', 'launches'),
        ('memory', 'allocate and free'),
        ('setup', 'setup'))


def row_of(event):
    """The key of the row that a span belongs to."""
    return event['args'].get('way', 'device') if event['cat'] == 'transfer' \
        else event['cat']


class Thread:
    """What one did, in seconds by key, how often, and from when until when."""

    def __init__(self):
        self.own = collections.Counter()
        self.times = collections.Counter()
        self.begin = self.end = None

    def add(self, span):
        key = row_of(span.event)
        self.own[key] += span.own
        self.times[key] += 1
        if self.begin is None or span.start < self.begin:
            self.begin = span.start
        self.end = max(self.end or 0, span.end)


class Summary:
    """Of a whole trace."""

    def __init__(self, trace):
        self.trace = trace
        self.threads = collections.defaultdict(Thread)
        self.moved = collections.Counter()
        self.copies = collections.Counter()
        self.events = 0
        nest = spans.Nest()
        for event in trace:
            self.events += 1
            self.threads[event['tid']].add(nest.add(event))
            args = event['args']
            if args.get('way') and args['bytes']:
                key = args['way'], args.get('cause', '?')
                self.moved[key] += args['bytes']
                self.copies[key] += 1
        self._fill()

    def _fill(self):
        """The rest of a thread's time is its own code's. The first thread's goes
        from the start of the runtime to the end of the process, of another one
        nothing is known before its first and behind its last event."""
        first = self.threads[self.trace.pid]
        first.end = max(self.trace.duration, first.end or 0)
        if self.trace.is_whole() or first.begin is None:
            first.begin = 0
        for tid, thread in self.threads.items():
            lasted = thread.end - thread.begin
            if not self.is_ours(tid):
                thread.own['cpu'] = max(0, lasted - sum(thread.own.values()))

    def is_ours(self, tid):
        """Is that a thread of the runtime?"""
        return self.trace.names.get(tid) == 'libadsm'

    def program(self):
        """The program's threads, the first one first."""
        return sorted((tid for tid in self.threads if not self.is_ours(tid)),
                      key=lambda tid: (tid != self.trace.pid, tid))

    def total(self, tids):
        """Seconds by key, and how often, of some threads."""
        own, times = collections.Counter(), collections.Counter()
        for tid in tids:
            own.update(self.threads[tid].own)
            times.update(self.threads[tid].times)
        return own, times

    def bytes(self, way):
        return sum(count for (one, _), count in self.moved.items()
                   if one == way)


def table_of(summary, tids):
    own, times = summary.total(tids)
    whole = sum(own.values()) or 1
    rows = [(name, text.time(own[key]), f'{100 * own[key] / whole:.1f} %',
             times[key] or '')
            for key, name in ROWS if own[key] or times[key]]
    return text.table(('', 'time', 'share', 'times'), rows)


def moved_table(summary):
    rows = [(way, cause, text.size(count), summary.copies[way, cause])
            for (way, cause), count in summary.moved.most_common()]
    return text.table(('moved', '~for', 'bytes', 'times'), rows)


def differences(summary):
    """What the trace has not of what the runtime counted, in words."""
    for way in ('up', 'down', 'device'):
        counted = summary.trace.counters.get(f'bytes_{way}', 0)
        if counted != summary.bytes(way):
            yield f'{way}: {summary.bytes(way)} bytes are here, the runtime ' \
                  f'counted {counted}'


def print_text(summary, by_thread):
    trace, tids = summary.trace, summary.program()
    ours = [tid for tid in summary.threads if summary.is_ours(tid)]
    print(f'{trace.path}: {text.time(trace.duration)}, {summary.events} events '
          f'of {len(tids)} thread{"s" if len(tids) != 1 else ""}')
    if not trace.is_whole():
        print(f'{trace.overwritten} older events are not there: a larger '
              'ADSM_TRACE_EVENTS keeps them')
    parts = [(f'thread {tid}', [tid]) for tid in tids] if by_thread else \
        [('', tids)]
    if ours:
        parts.append(("threads of the runtime, beside that", ours))
    for name, some in parts:
        print(f'\n{name}' if name else '')
        print(table_of(summary, some))
    if summary.moved:
        print()
        print(moved_table(summary))
    for line in differences(summary):
        print(line)


def print_json(summary):
    def as_dict(tids):
        own, times = summary.total(tids)
        return {key: {'seconds': round(own[key], 9), 'times': times[key]}
                for key, _ in ROWS}
    print(json.dumps({
        'seconds': summary.trace.duration, 'events': summary.events,
        'overwritten': summary.trace.overwritten,
        'all': as_dict(summary.program()),
        'threads': {str(tid): as_dict([tid]) for tid in summary.program()},
        'runtime': as_dict([tid for tid in summary.threads
                            if summary.is_ours(tid)]),
        'moved': [{'way': way, 'cause': cause, 'bytes': count,
                   'times': summary.copies[way, cause]}
                  for (way, cause), count in summary.moved.most_common()]}))


def add_options(parser):
    parser.add_argument('--threads', action='store_true',
                        help='a table for each thread')
    parser.add_argument('--json', action='store_true',
                        help='one JSON object instead of tables')


def run(trace, options):
    summary = Summary(trace)
    if options.json:
        print_json(summary)
    else:
        print_text(summary, options.threads)
