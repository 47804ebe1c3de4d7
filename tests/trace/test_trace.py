#!/usr/bin/env python3
"""Traces as programs write them, read by Python's json, and adsm-trace.

test_trace.py BUILD-ROOT
"""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TOOL = BUILD / 'tools/adsm-trace'
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'docs/examples'
PRELOADED = {'LD_PRELOAD': str(BUILD / 'interpose/libadsm-preload.so')}
SOFT = {'LD_LIBRARY_PATH': str(BUILD / 'tools/softcuda'), 'SOFTCUDA_STATS': '1'}
KINDS = {'setup', 'signal', 'transfer', 'wait', 'launch', 'memory', 'io'}

# Two threads, each with an array on a device of its own, which both write.
THREADS = '''import ctypes, sys, threading
adsm = ctypes.CDLL(sys.argv[1])
adsm.adsmAlloc.restype = ctypes.c_void_p
def work(device):
    assert adsm.adsmDeviceUse(device) == 0
    at = adsm.adsmAlloc(ctypes.c_size_t(1 << 20))
    for block in range(0, 1 << 20, 4096):
        ctypes.c_char.from_address(at + block).value = b'x'
    assert adsm.adsmSync() == 0
threads = [threading.Thread(target=work, args=[i]) for i in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()'''


def tool(*words, **more):
    more = {'text': True, 'capture_output': True, 'timeout': 120,
            'env': suite.plain_environment(), **more}
    return subprocess.run([TOOL, *words], check=False, **more)


def told(*words):
    """What --json of a command says."""
    run = tool(*words, '--json')
    assert run.returncode == 0, run
    return json.loads(run.stdout)


class Ran:
    """A program that was traced: what it left, read without adsm-trace."""

    def __init__(self, folder, program, *words, devices=1, cwd=EXAMPLES,
                 **extra):
        self.path = folder / 'trace.json'
        stats = folder / 'stats.json'
        stats.unlink(missing_ok=True)
        run = subprocess.run(
            [program, *words], check=True, capture_output=True, text=True,
            timeout=100, cwd=cwd,
            env={**suite.plain_environment(), **SOFT, **extra,
                 'SOFTCUDA_DEVICES': str(devices), 'ADSM_TRACE': str(self.path),
                 'ADSM_STATS_FILE': str(stats)})
        self.counters = json.loads(stats.read_text())
        self.whole = json.loads(self.path.read_text())
        self.spans = [event for event in self.whole['traceEvents']
                      if event['ph'] == 'X']
        seen = re.findall(r'device \d+: .*\((\d+) up, (\d+) down\)', run.stderr)
        assert len(seen) == devices, run.stderr
        self.soft_up = sum(int(up) for up, _ in seen)
        self.soft_down = sum(int(down) for _, down in seen)

    def moved(self, way):
        return sum(event['args']['bytes'] for event in self.spans
                   if event['args'].get('way') == way)


class Traced(unittest.TestCase):
    """What programs write, and what adsm-trace makes of it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def holds(self, ran):
        """All that is true of any trace that has lost no event."""
        self.assertEqual(ran.whole['otherData']['events_overwritten'], 0)
        for event in ran.whole['traceEvents']:
            self.is_event(event)
        self.is_nested(ran)
        self.is_counted(ran)
        self.is_what_the_device_saw(ran)
        self.is_summed_up(ran)

    def is_event(self, event):
        """As the Trace Event Format has it."""
        self.assertIn(event['ph'], 'XM')
        self.assertTrue(event['name'])
        for member in ('pid', 'tid'):
            self.assertIsInstance(event[member], int)
        if event['ph'] == 'M':
            self.assertEqual((event['name'], event['args']),
                             ('thread_name', {'name': 'libadsm'}))
            return
        self.assertIn(event['cat'], KINDS)
        self.assertGreaterEqual(event['ts'], 0)
        self.assertGreaterEqual(event['dur'], 0)
        self.assertEqual('way' in event['args'], event['cat'] == 'transfer')

    def is_nested(self, ran):
        """Of a thread no two spans cross."""
        by_thread = collections.defaultdict(list)
        for event in ran.spans:
            begin = round(event['ts'] * 1000)
            by_thread[event['tid']].append(
                (begin, -begin - round(event['dur'] * 1000)))
        for spans in by_thread.values():
            ends = []
            for begin, end in sorted(spans):
                while ends and ends[-1] <= begin:
                    ends.pop()
                self.assertTrue(not ends or -end <= ends[-1])
                ends.append(-end)

    def is_counted(self, ran):
        sums = collections.Counter()
        for event in ran.spans:
            args = event['args']
            if 'way' in args:
                sums[f'{args["way"]}_{args["cause"]}'] += args['bytes']
        for name, count in ran.counters.items():
            if re.fullmatch('(up|down|device)_[a-z_]+', name):
                self.assertEqual(sums[name], count, name)
        for way in ('up', 'down', 'device'):
            self.assertEqual(ran.moved(way), ran.counters[f'bytes_{way}'])
        names = collections.Counter(event['name'] for event in ran.spans)
        names['launch'] += names['launch part']
        for name, counter in (('read fault', 'faults_read'),
                              ('write fault', 'faults_write'),
                              ('launch', 'launches'), ('alloc', 'allocs'),
                              ('adopt', 'adoptions'), ('free', 'frees')):
            self.assertEqual(names[name], ran.counters[counter], name)

    def is_what_the_device_saw(self, ran):
        """From device to device goes through the host there."""
        peer = ran.counters['bytes_peer']
        self.assertEqual(ran.soft_up, ran.moved('up') + peer
                         + ran.counters['bytes_tried_up'])
        self.assertEqual(ran.soft_down, ran.moved('down') + peer
                         + ran.counters['bytes_tried_down'])

    def is_summed_up(self, ran):
        got = told('summary', ran.path)
        for way in ('up', 'down', 'device'):
            self.assertEqual(sum(row['bytes'] for row in got['moved']
                                 if row['way'] == way), ran.moved(way))
        main = got['threads'][str(ran.whole['otherData']['pid'])]
        self.assertAlmostEqual(sum(row['seconds'] for row in main.values()),
                               got['seconds'], delta=1e-6)
        busy = told('top', ran.path, '--count', '1000')['objects']
        for member, counter in (('read_faults', 'faults_read'),
                                ('write_faults', 'faults_write')):
            self.assertEqual(sum(one[member] for one in busy),
                             ran.counters[counter])
        self.assertNotIn('runtime counted', tool('summary', ran.path).stdout)

    def test_preloaded_program(self):
        for protocol in ('rolling', 'lazy', 'batch'):
            ran = Ran(self.folder, BUILD / 'bench/wave/wave_ported', '--steps',
                      '20', '--quiet', **PRELOADED, ADSM_PROTOCOL=protocol)
            self.holds(ran)
            got = told('summary', ran.path)['all']
            self.assertEqual(got['launch']['times'], 20)
            self.assertGreaterEqual(got['wait']['times'], 20)
            self.assertEqual(got['io']['times'], 1)

    def test_program_for_adsm_h(self):
        self.holds(Ran(self.folder, BUILD / 'bench/parboil/vecadd_adsm',
                       ADSM_BLOCK_SIZE='4K'))

    def test_calls_over_two_devices(self):
        for program in ('bench/ranges/heat_adsm', 'docs/examples/walk',
                        'docs/examples/heat'):
            ran = Ran(self.folder, BUILD / program, devices=2)
            self.holds(ran)
            self.assertEqual({event['args']['device'] for event in ran.spans
                              if event['cat'] == 'transfer'}, {0, 1})

    def test_what_comes_early(self):
        ran = Ran(self.folder, BUILD / 'bench/wave/wave_ported', '--steps', '50',
                  '--quiet', **PRELOADED, ADSM_FETCH_AHEAD='early',
                  ADSM_BLOCK_SIZE='4K')
        self.holds(ran)
        self.assertGreater(ran.counters['fetched_early'], 0)

    def test_stores_that_are_gathered(self):
        """They go as what a kernel is told: the device sees no copy."""
        ran = Ran(self.folder, BUILD / 'tests/adopt/adopt_gathered', 'child',
                  ADSM_TRACE_EVENTS='1000000', **PRELOADED)
        self.is_counted(ran)
        stores = sum(event['name'] == 'store' for event in ran.spans)
        self.assertGreater(stores, 100)
        self.assertLessEqual(stores, ran.counters['stores'])

    def test_own_copies_of_a_program(self):
        ran = Ran(self.folder, BUILD / 'bench/wave/wave_explicit', '--steps',
                  '5', '--quiet', **PRELOADED)
        self.holds(ran)
        self.assertGreater(ran.counters['up_own'], 0)

    def test_threads_on_two_devices(self):
        ran = Ran(self.folder, sys.executable, '-c', THREADS,
                  BUILD / 'libadsm/libadsm.so.0', devices=2,
                  ADSM_BLOCK_SIZE='4K', ADSM_ROLLING_LEARN='0',
                  ADSM_ROLLING_SIZE='4')
        self.holds(ran)
        got = told('summary', ran.path)['threads']
        self.assertEqual(sorted(row['signal']['times'] for row in got.values()
                                if row['signal']['times']), [256, 256])
        places = collections.defaultdict(list)
        for event in ran.spans:
            if event['cat'] == 'signal':
                self.assertEqual((event['args']['object_bytes'],
                                  event['args']['block']), (1 << 20, 4096))
                places[event['args']['object']].append(event['args']['offset'])
        self.assertEqual([sorted(offsets) for offsets in places.values()],
                         2 * [list(range(0, 1 << 20, 4096))])
        sent = collections.defaultdict(set)
        for event in ran.spans:
            if event['name'] == 'upload':
                sent[event['args']['object']] |= set(range(
                    event['args']['offset'], event['args']['offset']
                    + event['args']['bytes'], 4096))
        self.assertTrue(sent)
        for offsets in sent.values(): # each block leaves before long
            self.assertGreater(len(offsets), 240)

    def test_events_say_whose_bytes_and_where(self):
        ran = Ran(self.folder, BUILD / 'bench/wave/wave_ported', '--steps', '5',
                  '--quiet', **PRELOADED)
        for event in ran.spans:
            args = event['args']
            if event['cat'] == 'signal' or args.get('cause') == 'fault':
                self.assertLess(args['offset'], args['object_bytes'])
                self.assertGreater(args['block'], 0)
                self.assertIn('instruction', args)
        sites = told('top', ran.path)['sites']
        self.assertTrue(all(site['at'].startswith('wave_ported+')
                            for site in sites), sites)
        if shutil.which('addr2line'):
            self.assertRegex(sites[0]['at'], r' main wave_ported\.c:\d+$')

    def test_overwritten_events_are_said(self):
        ran = Ran(self.folder, BUILD / 'bench/wave/wave_ported', '--steps', '20',
                  '--quiet', **PRELOADED, ADSM_TRACE_EVENTS='64')
        self.assertEqual(len(ran.spans), 64)
        lost = ran.whole['otherData']['events_overwritten']
        self.assertGreater(lost, 0)
        said = tool('summary', ran.path).stdout
        self.assertIn(f'{lost} older events are not there', said)
        self.assertIn('the runtime counted', said)

    def test_killed_program_leaves_an_empty_file(self):
        path = self.folder / 'killed.json'
        path.write_text('of an earlier run')
        run = subprocess.run(
            [sys.executable, '-c', 'import ctypes, os, sys\n'
             'adsm = ctypes.CDLL(sys.argv[1])\n'
             'adsm.adsmDeviceCount()\n'
             'os.kill(os.getpid(), 9)', BUILD / 'libadsm/libadsm.so.0'],
            env={**suite.plain_environment(), **SOFT, 'ADSM_TRACE': str(path)},
            check=False, timeout=60)
        self.assertEqual(run.returncode, -signal.SIGKILL)
        self.assertEqual(path.read_bytes(), b'')
        got = tool('summary', path)
        self.assertEqual(got.returncode, 2)
        self.assertIn('was ended before', got.stderr)


def span(name, kind, tid, start, length, **args):
    """An event, in microseconds."""
    return {'name': name, 'cat': kind, 'ph': 'X', 'pid': 1, 'tid': tid,
            'ts': start, 'dur': length, 'args': {'bytes': 0, **args}}


def on(address, offset=0, size=1 << 20, block=4096, **more):
    """Arguments about bytes of an object."""
    return {'object': hex(address), 'object_bytes': size, 'offset': offset,
            'block': block, **more}


class Made(unittest.TestCase):
    """Traces of which all is known."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / 'made.json'

    def make(self, *events, duration=1000, pretty=False, **about):
        about = {'by': 'libadsm', 'format': 1, 'pid': 1, 'duration_us': duration,
                 'events_overwritten': 0, 'counters': {}, 'modules': [], **about}
        whole = {'displayTimeUnit': 'ms', 'otherData': about, 'traceEvents': []}
        if pretty:
            whole['traceEvents'] = events
            self.path.write_text(json.dumps(whole, indent=1))
            return
        head = json.dumps(whole, separators=(',', ':')).removesuffix(']}')
        self.path.write_text(head + '\n' + ',\n'.join(map(json.dumps, events))
                             + '\n]}\n')

    def refused(self, text, *words):
        run = tool(*(words or ('summary', self.path)))
        self.assertEqual((run.returncode, run.stdout), (2, ''))
        self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
        self.assertIn(text, run.stderr)


class Sums(Made):
    def test_own_time_leaves_out_what_is_inside(self):
        self.make(span('wait', 'wait', 1, 300, 100, device=0),
                  span('download', 'transfer', 1, 250, 200, device=0, way='down',
                       cause='fault', **on(0x1000)),
                  span('read fault', 'signal', 1, 200, 300, **on(0x1000)),
                  span('read', 'io', 1, 100, 500),
                  span('launch', 'launch', 1, 600, 50))
        got = {key: row['seconds'] for key, row
               in told('summary', self.path)['all'].items() if row['seconds']}
        self.assertEqual(got, {'wait': 1e-4, 'down': 1e-4, 'signal': 1e-4,
                               'io': 2e-4, 'launch': 5e-5, 'cpu': 4.5e-4})

    def test_threads_are_added_and_those_of_the_runtime_are_not(self):
        self.make(span('alloc', 'memory', 1, 0, 100),
                  span('alloc', 'memory', 2, 100, 100),
                  span('alloc', 'memory', 2, 400, 100),
                  span('download', 'transfer', 3, 0, 300, way='down'),
                  span('download', 'transfer', 3, 400, 500, way='down'),
                  {'name': 'thread_name', 'ph': 'M', 'pid': 1, 'tid': 3,
                   'args': {'name': 'libadsm'}})
        got = told('summary', self.path)
        self.assertAlmostEqual(got['all']['memory']['seconds'], 3e-4)
        self.assertAlmostEqual(got['all']['cpu']['seconds'], 9e-4 + 2e-4)
        self.assertEqual(got['all']['down']['times'], 0)
        self.assertAlmostEqual(got['runtime']['down']['seconds'], 8e-4)
        self.assertEqual(got['runtime']['cpu']['seconds'], 0)
        self.assertEqual(set(got['threads']), {'1', '2'})
        self.assertIn('thread 2', tool('summary', '--threads',
                                       self.path).stdout)

    def test_bytes_that_are_not_there_are_said(self):
        self.make(span('upload', 'transfer', 1, 0, 1, way='up', bytes=7),
                  counters={'bytes_up': 8})
        self.assertIn('up: 7 bytes are here, the runtime counted 8',
                      tool('summary', self.path).stdout)

    def test_objects_by_faults_bytes_and_waits(self):
        self.make(
            span('alloc', 'memory', 1, 0, 1, **on(0x1000)),
            span('read fault', 'signal', 1, 10, 5, instruction='0x10',
                 **on(0x1000)),
            span('write fault', 'signal', 1, 20, 5, instruction='0x20',
                 **on(0x1000)),
            span('upload', 'transfer', 1, 30, 5, way='up',
                 **on(0x2000, bytes=900)),
            span('wait', 'wait', 1, 41, 3),
            span('download', 'transfer', 1, 40, 5, way='down',
                 **on(0x3000, bytes=1)),
            span('alloc', 'memory', 1, 50, 1, **on(0x1000, size=64)),
            span('read fault', 'signal', 1, 60, 5, **on(0x1000, size=64)))
        first = {by: told('top', self.path, '--by', by)['objects'][0]
                 for by in ('faults', 'bytes', 'waits')}
        self.assertEqual({by: one['object'] for by, one in first.items()},
                         {'faults': '0x1000', 'bytes': '0x2000',
                          'waits': '0x3000'})
        self.assertEqual((first['faults']['read_faults'],
                          first['faults']['write_faults'],
                          first['bytes']['up'], first['waits']['wait_s']),
                         (1, 1, 900, 3e-6))
        again = [one for one in told('top', self.path)['objects']
                 if one['number'] == 2]
        self.assertEqual([one['bytes'] for one in again], [64])

    def test_one_line_or_many_is_the_same(self):
        events = [span('launch', 'launch', 1, i, 1) for i in range(5)]
        self.make(*events)
        lines = told('summary', self.path)
        self.make(*events, pretty=True)
        self.assertEqual(told('summary', self.path), lines)

    def test_no_event_is_no_mistake(self):
        self.make()
        self.assertEqual(told('summary', self.path)['events'], 0)
        self.assertIn('no object', tool('top', self.path).stdout)

    def test_many_events(self):
        count = 100000
        self.make(*(span('read fault', 'signal', i % 3, 10 * i, 5,
                         **on(0x1000, i % 256 * 4096)) for i in range(count)),
                  duration=10 * count)
        one, = told('top', self.path)['objects']
        self.assertEqual(one['read_faults'], count)

    def test_who_reads_may_have_enough(self):
        self.make(*(span('x', 'io', tid, 0, 1) for tid in range(2000)))
        run = subprocess.run(f'{TOOL} summary --threads {self.path} | head -1',
                             shell=True, check=True, capture_output=True,
                             text=True, timeout=60)
        self.assertEqual(run.stderr, '')


class Damaged(Made):
    def test_empty(self):
        self.path.touch()
        self.refused('empty file')

    def test_not_there_or_a_folder(self):
        self.refused('No such file')
        self.path.mkdir()
        self.refused('Is a directory')

    def test_what_has_no_end(self):
        self.refused('no plain file', 'summary', '/dev/zero')
        with self.path.open('wb') as file:
            file.truncate(2 << 30)
        self.refused('too large', 'top', self.path)

    def test_cut_anywhere(self):
        self.make(*(span('launch', 'launch', 1, i, 1) for i in range(3)))
        whole = self.path.read_bytes()
        for length in range(1, len(whole) - 1, 29):
            self.path.write_bytes(whole[:length])
            self.refused('')

    def test_others(self):
        for text in ('{}', '[]', '3', '"libadsm"', '{"traceEvents":[]}',
                     '{"traceEvents":[\n{"name":"x","ph":"X"}\n]}\n',
                     '{"otherData":{"by":"other"},"traceEvents":[]}',
                     '[' * 100000, 'GIF89a', '\n'):
            self.path.write_text(text)
            self.refused('no trace')
        self.path.write_bytes(bytes(range(256)))
        self.refused('no text')

    def test_another_version(self):
        self.make(format=2)
        self.refused('format is 2')

    def test_head_without_what_is_needed(self):
        for member, value in (('counters', 3), ('pid', 'x'), ('modules', [7]),
                              ('duration_us', None)):
            self.make(**{member: value})
            self.refused('damaged: its head')

    def test_damaged_event_is_named_by_its_line(self):
        good = span('launch', 'launch', 1, 1, 1)
        for bad in ({**good, 'ts': -1}, {**good, 'dur': 'x'}, {**good, 'cat': ''},
                    {**good, 'args': {}}, {**good, 'tid': None}, 7, [], None,
                    {**good, 'args': {'bytes': 1, 'way': 'left'}},
                    {**good, 'args': {'bytes': 0, 'object': 'x',
                                      'object_bytes': 1, 'offset': 0}},
                    {**good, 'args': {'bytes': 0, 'object': '0x1'}},
                    {**good, 'args': {'bytes': 0, 'instruction': 5}},
                    {**good, 'args': {'bytes': 0, 'block': 0}},
                    {**good, 'args': {'bytes': 0, 'device': 'x'}}):
            self.make(good, bad, good)
            for command in 'summary', 'top':
                self.refused('line 3 is no event', command, self.path)

    def test_text_behind_the_end(self):
        self.make()
        with self.path.open('a') as file:
            file.write('x')
        self.refused('behind its end')

    def test_wrong_command_lines(self):
        self.make()
        self.refused('did you mean summary?', 'sumary', self.path)
        self.refused('did you mean gantt?', 'gant', self.path)
        self.refused('there are summary, top, blocks, gantt', 'xyz', self.path)
        for words in ((), ('top',), ('top', self.path, '--by', 'size'),
                      ('top', self.path, '--count', '-3'),
                      ('blocks', self.path, '--object', 'zz'),
                      ('gantt', self.path, '--from', 'nan')):
            self.assertEqual(tool(*words).returncode, 2)


def pixels(path):
    """Of a PNG as gnuplot makes it: width and rows of bytes, three a pixel."""
    data, at, packed = path.read_bytes(), 8, b''
    width, height, depth, colour = struct.unpack('>IIBB', data[16:26])
    assert (data[:8], depth, colour) == (b'\x89PNG\r\n\x1a\n', 8, 2)
    while at < len(data):
        length, = struct.unpack('>I', data[at:at + 4])
        if data[at + 4:at + 8] == b'IDAT':
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    rows, raw, pitch = [], zlib.decompress(packed), 3 * width
    above = bytes(pitch)
    for y in range(height):
        line = bytearray(raw[y * (pitch + 1) + 1:(y + 1) * (pitch + 1)])
        unfilter(raw[y * (pitch + 1)], line, above)
        rows.append(bytes(line))
        above = rows[-1]
    return width, rows


def unfilter(kind, line, above):
    for i, value in enumerate(line):
        left = line[i - 3] if i >= 3 else 0
        up, corner = above[i], above[i - 3] if i >= 3 else 0
        if kind == 4:
            guess = left + up - corner
            near = min((left, up, corner), key=lambda one: abs(guess - one))
        else:
            near = (0, left, up, (left + up) // 2)[kind]
        line[i] = (value + near) & 255


@unittest.skipUnless(shutil.which('gnuplot'), 'gnuplot is not installed')
class Pictures(Made):
    def draw(self, command, *words):
        """The picture; what was said."""
        png = self.folder / f'{command}.png'
        run = tool(command, self.path, '--png', png, *words)
        self.assertEqual((run.returncode, run.stderr), (0, ''), run)
        self.width, self.rows = pixels(png)
        return run.stdout

    def count(self, colour, rows=None):
        """Pixels of a colour, #rrggbb."""
        wanted = bytes.fromhex(colour[1:])
        return sum(row[i:i + 3] == wanted for row in rows or self.rows
                   for i in range(0, len(row), 3))

    def length(self, colour):
        """Pixels of the longest line of a colour."""
        wanted = bytes.fromhex(colour[1:])
        best = run = 0
        for row in self.rows:
            for i in range(0, len(row), 3):
                run = run + 1 if row[i:i + 3] == wanted else 0
                best = max(best, run)
            run = 0
        return best

    def test_blocks_are_where_they_are(self):
        """Two of eight blocks have faults, two others half of the bytes from
        the device each."""
        self.make(*(span('read fault', 'signal', 1, i, 1,
                         **on(0x1000, block * 4096 + 5, 8 * 4096))
                    for i, block in enumerate((1, 1, 6, 6))),
                  span('download', 'transfer', 1, 9, 1, way='down',
                       **on(0x1000, 3 * 4096 + 2048, 8 * 4096, bytes=4096)))
        said = self.draw('blocks')
        self.assertIn('8 blocks of 4 KiB: 4 faults, 0 B up, 4 KiB down', said)
        third = len(self.rows) // 3
        # The middle line of the first panel: two runs of the full colour, as
        # wide as an eighth each, five such widths apart.
        line = self.rows[third // 2 + 20]
        red = [x for x in range(0, self.width - 130)
               if line[3 * x:3 * x + 3] == bytes.fromhex('b2182b')]
        runs = [x for x in red if x - 1 not in red]
        ends = [x for x in red if x + 1 not in red]
        self.assertEqual(len(runs), 2, runs)
        wide = ends[0] - runs[0] + 1
        self.assertAlmostEqual(wide, ends[1] - runs[1] + 1, delta=3)
        self.assertAlmostEqual((runs[1] - runs[0]) / wide, 5, delta=0.1)
        left = int(0.08 * self.width)
        self.assertAlmostEqual((runs[0] - left) / wide, 1, delta=0.1)
        self.assertAlmostEqual(self.count('#1b7837', self.rows[2 * third:])
                               / self.count('#b2182b', self.rows[:third]), 1,
                               delta=0.1)
        self.assertGreater(self.count('#1b7837', self.rows[2 * third:]), 5000)
        self.assertLess(self.count('#2166ac', self.rows[third:2 * third]), 500)

    def test_one_block(self):
        self.make(span('read fault', 'signal', 1, 0, 1, **on(0x1000, size=100)))
        self.assertIn('1 blocks', self.draw('blocks'))
        self.assertGreater(self.count('#b2182b'), 10000)

    def test_a_million_blocks(self):
        size = 4096 * 1000000
        self.make(span('read fault', 'signal', 1, 0, 1,
                       **on(0x1000, size - 1, size)),
                  span('upload', 'transfer', 1, 0, 1, way='up',
                       **on(0x1000, 0, size, bytes=size)))
        self.assertIn('1000000 blocks', self.draw('blocks'))
        self.assertGreater(self.count('#2166ac'), 80000)
        self.assertGreater(self.count('#b2182b'), 1)

    def test_object_is_the_one_that_is_asked_for(self):
        self.make(span('read fault', 'signal', 1, 0, 1, **on(0x1000, 0, 4096)),
                  span('read fault', 'signal', 1, 2, 1, **on(0x9000, 0, 4096)),
                  span('read fault', 'signal', 1, 4, 1, **on(0x9000, 0, 4096)))
        self.assertIn('0x9000', self.draw('blocks'))
        self.assertIn('0x1000', self.draw('blocks', '--object', '0x1005'))
        run = tool('blocks', self.path, '--object', '0x77')
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr.count('\n'), 1)

    def test_rows_of_threads_and_devices(self):
        self.make(span('upload', 'transfer', 1, 0, 500, way='up', device=0),
                  span('launch', 'launch', 1, 500, 100, device=0),
                  span('wait', 'wait', 2, 700, 300, device=0),
                  span('download', 'transfer', 2, 600, 400, way='down',
                       device=1),
                  span('download', 'transfer', 3, 600, 400, way='down',
                       device=0))
        self.assertIn('7 rows', self.draw('gantt'))
        for colour in ('#1b7837', '#7b3294', '#f4a582', '#b2abd2'):
            self.assertGreater(self.count(colour), 500)
        # From 600 us on kernels are in flight, until 1,000.
        self.assertAlmostEqual(self.length('#b2abd2') / self.length('#2166ac'),
                               400 / 500, delta=0.02)
        self.draw('gantt', '--from', '0.0006')
        self.assertEqual(self.count('#2166ac'), 0)

    def test_picture_that_cannot_be_written(self):
        self.make(span('launch', 'launch', 1, 0, 1))
        for where in ('/dev/null/x.png', '/dev/full', self.folder):
            run = tool('gantt', self.path, '--png', where)
            self.assertEqual((run.returncode, run.stdout), (1, ''))
            self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
            self.assertIn('cannot write', run.stderr)

    def test_nothing_to_draw(self):
        self.make()
        for command in ('blocks', 'gantt'):
            run = tool(command, self.path)
            self.assertEqual((run.returncode, run.stderr.count('\n')), (1, 1))

    def test_name_is_the_traces(self):
        self.make(span('read fault', 'signal', 1, 0, 1, **on(0x1000)))
        for command in ('blocks', 'gantt'):
            tool(command, self.path)
            self.assertTrue((self.folder / f'made.{command}.png').exists())


class NoGnuplot(Made):
    def test_is_said(self):
        self.make(span('launch', 'launch', 1, 0, 1))
        for command in ('blocks', 'gantt'):
            run = subprocess.run(
                [sys.executable, TOOL, command, self.path], check=False,
                text=True, capture_output=True, timeout=60,
                env={**suite.plain_environment(), 'PATH': str(self.folder)})
            self.assertEqual((run.returncode, run.stdout), (1, ''))
            self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
            self.assertIn('gnuplot-nox', run.stderr)


if __name__ == '__main__':
    suite.main()
