"""Commands for gdb on a program that uses libadsm; adsm-run --gdb loads this.

gdb reads memory past every protection, so of what the device has written since it
shows what the CPU had last. These commands have the program fetch it first.
"""
import gdb

FETCH = '((const char *(*)(const void *, unsigned long, int))adsm_debug_fetch)'
ENDS = 'adsm_fault_ends'
ends = []


def fetch(address, count, write=False):
    """Have `count` bytes at `address` be what the program would see there."""
    try:
        why = gdb.parse_and_eval(f'{FETCH}({address}, {count}, {int(write)})')
    except gdb.error as error:
        if 'No symbol "adsm_debug_fetch"' in str(error):
            error = 'libadsm is not in this program, or not yet'
        raise gdb.GdbError(f'adsm: {error}') from None
    if int(why):
        raise gdb.GdbError(f'adsm: {why.string()}')


def place_of(expression):
    """Where an expression lies in memory: address and bytes."""
    value = gdb.parse_and_eval(expression)
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_REF:
        value = value.referenced_value()
    if value.address is None:
        raise gdb.GdbError(f'adsm: {expression} is not a place in memory, as '
                           'p[7] or *p@10 are')
    return int(value.address), value.type.sizeof


class Adsm(gdb.Command):
    """Memory that a CUDA device shares with this program by libadsm."""

    def __init__(self):
        super().__init__('adsm', gdb.COMMAND_DATA, prefix=True)


class Print(gdb.Command):
    """Fetch a place in memory, then print it: adsm print [/FORMAT] EXPRESSION

What pointers on the way to it say is not fetched: print them first."""

    def __init__(self):
        super().__init__('adsm print', gdb.COMMAND_DATA,
                         gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        form, expression = '', argument.strip()
        if expression.startswith('/'):
            form, _, expression = expression.partition(' ')
        fetch(*place_of(expression))
        gdb.execute(f'print {form} {expression}', from_tty)


class Set(gdb.Command):
    """Store to a place in memory, so that kernels see it: adsm set PLACE = VALUE"""

    def __init__(self):
        super().__init__('adsm set', gdb.COMMAND_DATA,
                         gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        place, equals, value = argument.partition('=')
        if not equals or not place.strip():
            raise gdb.GdbError('adsm: usage: adsm set PLACE = VALUE')
        fetch(*place_of(place), write=True)
        gdb.execute(f'set variable {place} = {value}', from_tty)


class Function(gdb.Function):
    """The pointer, once its bytes are fetched: $adsm(POINTER, BYTES)"""

    def __init__(self):
        super().__init__('adsm')

    def invoke(self, pointer, count):
        fetch(int(pointer), int(count))
        return pointer


def on_library(objfile):
    """Where libadsm is there: stop where it lets the program end."""
    name = objfile.filename or ''
    if '/libadsm.so' in name and not ends:
        ends.append(gdb.Breakpoint(ENDS, internal=True))


def on_stop(event):
    """At a fault of the program's own: show where that was."""
    if not isinstance(event, gdb.BreakpointEvent):
        return
    frame = gdb.newest_frame()
    if frame.name() != ENDS:
        return
    while frame and frame.type() != gdb.SIGTRAMP_FRAME:
        frame = frame.older()
    if frame and frame.older():
        frame.older().select()
        gdb.write('The program faults by itself, and is about to end:\n')
        gdb.execute('frame')


Adsm()
Print()
Set()
Function()
# Faults are how accesses are noticed, and SIG33 asks threads for their masks.
gdb.execute('handle SIGSEGV SIG33 nostop noprint pass', to_string=True)
for library in gdb.objfiles():
    on_library(library)
gdb.events.new_objfile.connect(lambda event: on_library(event.new_objfile))
gdb.events.stop.connect(on_stop)
