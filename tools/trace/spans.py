"""Which span lies in which: what a thread does itself, and what it waits for.

Spans of a thread lie within each other and come when they end, inner ones first.
So what is not claimed yet and began later than the one that comes is in it.
"""
import collections

# What somebody waits for belongs to what he does it for.
Span = collections.namedtuple('Span', 'event start end own waited')


class Nest:
    """Gives each event its own time: its length less that of those in it."""

    def __init__(self):
        self._open = collections.defaultdict(list)

    def add(self, event):
        """The event as a span, in seconds. waited: time of the spans of waiting
        that are in it and in nothing else."""
        start = event['ts'] / 1e6
        length = event['dur'] / 1e6
        pending = self._open[event['tid']]
        inner = waited = 0
        while pending and pending[-1][0] >= start:
            _, one, kind = pending.pop()
            inner += one
            if kind == 'wait':
                waited += one
        pending.append((start, length, event['cat']))
        return Span(event, start, start + length, max(0, length - inner), waited)
