"""What the events say of each object."""
import collections
import dataclasses

import spans


@dataclasses.dataclass
class Object:
    """An array, from its allocation to the end. What comes later at its address
    is another one. Small arrays lie together in one object."""
    address: int
    number: int = 1 # of those at the address
    bytes: int = 0
    block: int = 0
    read_faults: int = 0
    write_faults: int = 0
    up: int = 0
    down: int = 0
    device: int = 0
    fault_s: float = 0.0 # in accesses that faulted, copies and waits included
    wait_s: float = 0.0 # of that and of its copies, for the device's work
    sites: collections.Counter = dataclasses.field(
        default_factory=collections.Counter)

    @property
    def faults(self):
        return self.read_faults + self.write_faults

    @property
    def moved(self):
        return self.up + self.down + self.device

    @property
    def name(self):
        again = f' #{self.number}' if self.number > 1 else ''
        return f'{self.address:#x}{again}'


class Objects:
    """All objects of a trace, and the one that an event is about."""

    def __init__(self):
        self.all = []
        self.sites = collections.defaultdict(lambda: [0, 0.0, 0])
        self._now = {}
        self._nest = spans.Nest()

    def _at(self, event):
        args = event['args']
        address = args.get('object')
        if address is None:
            return None
        old = self._now.get(address)
        if old is None or (event['name'] in ('alloc', 'adopt')
                           and (old.faults or old.moved)):
            self._now[address] = Object(address, old.number + 1 if old else 1)
            self.all.append(self._now[address])
        one = self._now[address]
        one.bytes = args['object_bytes'] or one.bytes
        one.block = args.get('block', one.block)
        return one

    def add(self, event):
        """Return: its object; None: it is of none."""
        span = self._nest.add(event)
        one = self._at(event)
        args = event['args']
        if one is None:
            return None
        one.wait_s += span.waited
        if event['cat'] == 'transfer':
            way = args.get('way', 'device')
            setattr(one, way, getattr(one, way) + args['bytes'])
        if event['cat'] == 'signal':
            if event['name'].startswith('write'):
                one.write_faults += 1
            else:
                one.read_faults += 1
            one.fault_s += span.end - span.start
        self._note_site(event, one, span)
        return one

    def _note_site(self, event, one, span):
        """Where in the program the access is, and what it made move."""
        at = event['args'].get('instruction')
        if at is None:
            return
        site = self.sites[at]
        if event['cat'] == 'signal':
            site[0] += 1
            site[1] += span.end - span.start
            one.sites[at] += 1
        else:
            site[2] += event['args']['bytes']

    def busy(self):
        """Those that anything happened to."""
        return [one for one in self.all if one.faults or one.moved]
