"""Reads traces of libadsm, an event at a time.

The runtime writes a line for each event (libadsm/base/trace_file.c), so a file of
any size needs the memory of a line. One that another program has written anew,
with all in one line for example, is read as a whole.
"""
import json
import os
import stat

FORMAT = 1
HEAD_END = '"traceEvents":['
HEAD_MOST = 1 << 20
WHOLE_MOST = 1 << 30 # that is read into memory
KINDS = ('setup', 'signal', 'transfer', 'wait', 'launch', 'memory', 'io')
WAYS = ('up', 'down', 'device')


class Unreadable(Exception):
    """The file is no trace, or not a whole one; says why."""


class Trace:
    """A file and its head. Iterating gives its events as dicts, each time anew,
    checked, with addresses as numbers.

    Attributes: path, pid, duration (seconds), overwritten (older events that are
    not there), counters, modules, names (of threads, known behind a run)."""

    def __init__(self, path):
        self.path = path
        self.names = {}
        self._whole = None
        try:
            about = os.stat(path)
            if not stat.S_ISREG(about.st_mode) and \
                    not stat.S_ISDIR(about.st_mode):
                raise Unreadable('this is no plain file')
            with open(path, encoding='utf-8') as file:
                head = self._head(file, about.st_size)
        except OSError as error:
            raise Unreadable(error.strerror or str(error)) from None
        except UnicodeDecodeError:
            raise Unreadable('this is no trace: it is no text') from None
        self._take(head)

    def _head(self, file, size):
        first = file.readline(HEAD_MOST)
        if not first:
            raise Unreadable(
                'this is an empty file: a trace is written when its program '
                'exits, and this one still runs or was ended before')
        text = first.rstrip('\n')
        if text.endswith(HEAD_END):
            try:
                return json.loads(text + ']}')
            except ValueError:
                raise Unreadable('this is no trace: line 1 is no JSON') from None
        if size > WHOLE_MOST:
            raise Unreadable('this is no trace as libadsm writes it, and too '
                             'large to be read as a whole')
        try:
            self._whole = json.loads(first + file.read())
        except ValueError as error:
            cut = 'this is the beginning of a trace, no more' \
                if text.startswith('{"displayTimeUnit":"ms","otherData":' \
                                   '{"by":"libadsm"') else \
                f'this is no trace: {error}'
            raise Unreadable(cut) from None
        except RecursionError:
            raise Unreadable('this is no trace of libadsm') from None
        return self._whole

    def _take(self, head):
        about = head.get('otherData') if isinstance(head, dict) else None
        if not isinstance(about, dict) or about.get('by') != 'libadsm' or \
                not isinstance(head.get('traceEvents'), list):
            raise Unreadable('this is no trace of libadsm')
        if about.get('format') != FORMAT:
            raise Unreadable('this trace is of another version of libadsm: its '
                             f'format is {about.get("format")}, not {FORMAT}')
        try:
            self.pid = int(about['pid'])
            self.duration = float(about['duration_us']) / 1e6
            self.overwritten = int(about['events_overwritten'])
            self.counters = {str(name): int(value) for name, value
                             in about['counters'].items()}
            self.modules = [(one['path'], int(one['base'], 16),
                             int(one['begin'], 16), int(one['end'], 16))
                            for one in about['modules']]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unreadable('this trace is damaged: its head') from None

    def __iter__(self):
        if self._whole is not None:
            yield from self._checked(
                (number, json.dumps(event)) for number, event
                in enumerate(self._whole['traceEvents'], 1))
            return
        try:
            with open(self.path, encoding='utf-8') as file:
                yield from self._checked(self._lines(file))
        except UnicodeDecodeError:
            raise Unreadable('this trace is damaged: it is no text') from None

    def _lines(self, file):
        file.readline()
        number = 1
        for number, line in enumerate(file, 2):
            if line == ']}\n':
                if file.read(1):
                    raise Unreadable(f'this trace is damaged: more comes behind '
                                     f'its end, line {number}')
                return
            if not line.endswith('\n'):
                break
            if line != '\n':
                yield number, line.rstrip(',\n')
        raise Unreadable(f'this trace is cut off behind {number - 1} lines: '
                         'where it was written the room was not enough, or it '
                         'was not copied whole')

    def _checked(self, lines):
        for number, line in lines:
            try:
                event = json.loads(line)
                if event['ph'] == 'M':
                    self.names[event['tid']] = str(event['args']['name'])
                    continue
                args = event['args']
                sound = event['cat'] in KINDS and event['ph'] == 'X' \
                    and event['ts'] >= 0 and event['dur'] >= 0 \
                    and args['bytes'] >= 0 and isinstance(event['name'], str) \
                    and isinstance(event['tid'], int) \
                    and args.get('way', 'up') in WAYS \
                    and args.get('device', 0) >= 0 and args.get('block', 1) > 0
                if 'object' in args:
                    args['object'] = int(args['object'], 16)
                    sound = sound and args['object_bytes'] >= 0 \
                        and args['offset'] >= 0
                if 'instruction' in args:
                    args['instruction'] = int(args['instruction'], 16)
            except (KeyError, TypeError, ValueError, AttributeError,
                    RecursionError):
                sound = False
            if not sound:
                raise Unreadable(f'this trace is damaged: line {number} is no '
                                 'event')
            yield event

    def is_whole(self):
        """Whether all events are there."""
        return self.overwritten == 0
