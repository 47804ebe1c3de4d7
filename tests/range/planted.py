"""One wrong rule in the library itself, and whether the random test finds it.

planted.py FAULT BUILD LIBRARY PROGRAM FOLDER
planted.py --list LIBRARY FAULT ...

FAULT is a row of the table below, or one that the rules have for the model test
(ADSM_PLANTED); `none` plants nothing, and nothing must be found. The file with
the rule is changed in a copy, compiled as BUILD compiles it, and linked into a
libadsm of its own, where it comes before the right one. PROGRAM, the generator
(live.c), then runs with that library, seed after seed.

--list only says whether each fault's text is in the sources of LIBRARY, once.

Exit status 0: found (or, of `none`, nothing was); 1: not found, or the text is
not there once; 2: it could not be built.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SEEDS, SOUND_SEEDS, LIMIT_S = 100, 20, 120
SLOW = {'SOFTCUDA_PACE': '3M/s'}     # kernels take their time
LINK = {'SOFTCUDA_LINK': '40MB/s'}   # transfers do
TASKS = {'ADSM_POLICY': 'eager', **SLOW}  # they wait for a device
TIGHT = {'SOFTCUDA_MEMORY': '4M'}    # copies have to go

# What is wrong: the file, its text, the text instead, what shows it.
FAULTS = {
    # Who waits for whom.
    'reader-passes-writers': (
        'range/order.c', 'if (adsm_box_meets(&order->write[i].box, box))',
        'if (false)', SLOW),
    'writer-passes-readers': (
        'range/order.c',
        'adsm_order_before_read(order, box, waits);\n'
        '    for (uint32_t i = 0; i < order->readers; i++)',
        'adsm_order_before_read(order, box, waits);\n'
        '    for (uint32_t i = 0; i < 0; i++)', SLOW),
    'transfer-is-forgotten': (
        'range/carry.c', 'adsm_order_written(&copy->order, box, done);', ';',
        LINK),
    'fetch-passes-flights': (
        'range/serve.c',
        'adsm_flights_before_read(&ranged->flights, offset, offset + bytes,\n'
        '                             &fetch.waits);', '', LINK),
    'store-passes-uploads': (
        'range/serve.c',
        'which its next transfer reports. */\n'
        '    (void)adsm_waits_wait(&waits);', '*/', LINK),
    'flight-is-forgotten': (
        'range/carry.c',
        'adsm_flights_add(&adsm_ranged(object)->flights, flight);', ';', LINK),
    'flight-ends-with-its-first-piece': (
        'range/flight.c',
        'if (old->end < flight.end)\n                old->end = flight.end;',
        ';', LINK),
    'piece-is-fetched-before-it-is-made': (
        'range/carry.c',
        'adsm_order_before_read(&from->order, from_box, &waits);', ';', SLOW),
    'home-passes-parts': (
        'range/serve.c',
        'adsm_order_all(&ranged->home.order, &waits);\n    return', 'return',
        SLOW),
    'memory-passes-users': (
        'range/memory.c', 'copy->range, waits.fence, waits.count);',
        'copy->range, waits.fence, 0);', SLOW),
    # Who has what.
    'source-may-be-stale': (
        'range/plan.c',
        'unsigned from = source_of(held, &entry->holders, copy, &class);',
        'unsigned from = source_of(held, &entry->holders, copy, &class);\n'
        '    if (held->copies[ADSM_HOLDER_HOME] && class != SOURCE_LOCAL)\n'
        '        from = ADSM_HOLDER_HOME;', {}),
    'discard-takes-all': (
        'range/array.c', 'adsm_plan_discard(held, &s.stretch)',
        'adsm_plan_discard(held, &held->map.whole)', {}),
    'write-takes-what-lies-between': (
        'range/prepare.c',
        'if (want->flat)\n        return adsm_stretches_of(',
        'if (false)\n        return adsm_stretches_of(', {}),
    'margin-stays-empty': (
        'range/spread.c', 'rc = adsm_edge_fill(want);', '', {}),
    # What the CPU may do meanwhile.
    'block-that-is-sent-stays-open': (
        'range/spread.c', 'rc = adsm_ranged_sent(object, &want->reads);',
        'rc = ADSM_OK;', {}),
    'block-that-is-written-stays-open': (
        'range/spread.c', 'rc = adsm_ranged_close(object, &s.stretch);', ';',
        {}),
    'gates-stay-open': (
        'range/spread.c', 'parts->gates = gates;', 'parts->gates = gates = 0;',
        {}),
    # What calls are behind, and what is behind them.
    'after-is-forgotten': (
        'call/task_begin.c', 'for (int i = 0; i < task->opts.afters; i++)',
        'for (int i = 0; i < 0; i++)', {}),
    # Tasks that are not begun.
    'task-passes-writers': (
        'call/queue_order.c', 'return meets(use, &w->read, older, &o->write) ||',
        'return', TASKS),
    'task-passes-its-writers': (
        'call/queue_order.c', 'meets(use, &w->write, older, &o->write) ||', '',
        TASKS),
    'task-passes-readers': (
        'call/queue_order.c', 'meets(use, &w->write, older, &o->read);',
        'false;', TASKS),
    'task-hides-more-than-it-writes': (
        'call/queue_order.c', 'covers(&o->write, &w->read) &&\n'
        '           covers(&o->write, &w->write);', 'true;', TASKS),
    'task-leaves-blocks-open': (
        'call/queue.c', 'rc = adsm_spread_claim(made[i]->uses[k].want);', ';',
        TASKS),
    'access-passes-tasks': (
        'call/queue_order.c',
        'met = (writes || written) && use->begin < end && begin < use->end;',
        'met = false;', TASKS),
    'store-passes-tasks-that-read': (
        'call/queue_order.c', 'met = (writes || written) &&', 'met = written &&',
        TASKS),
    'block-opens-behind-its-task': (
        'mm/doors/touch.c',
        'adsm_block_is_awaited(object, i, access == ADSM_WRITE))', 'false)',
        TASKS),
    'neighbours-open-with-a-block': (
        'mm/state/answer.c', 'if (adsm_object_is_awaited(object)) {',
        'if (false) {', TASKS),
    'other-side-is-not-waited-for': (
        'call/queue.c', 'if (want->edge != ADSM_EDGE_WRAP ||', 'if (true ||',
        TASKS),
    'calls-pass-tasks': (
        'call/call.c', 'adsm_queue_drain();\n        rc = adsm_task_begin',
        'rc = adsm_task_begin', TASKS),
    'pieces-are-not-looked-at': (
        'call/queue.c', 'return task->opts.chunks > 1\n', 'return false\n',
        TASKS),
    'then-comes-early': (
        'call/event.c', 'int status = adsm_ended_wait(&follower->ended);',
        'int status = follower->ended.status;', {}),
    'then-comes-twice': (
        'call/event.c', 'follower->then(follower->arg, (adsmStatus)status);',
        'for (int i = 0; i < 2; i++)\n'
        '            follower->then(follower->arg, (adsmStatus)status);', {}),
    'wait-does-not': (
        'api_range.c', 'rc = adsm_ended_wait(&ended);', 'rc = ended.status;',
        {}),
    'sync-does-not': (
        'call/call.c', 'int status = adsm_ended_wait(ended);',
        'int status = ADSM_OK;', {}),
    # Which boxes an argument names.
    'further-boxes-are-not-read': (
        'call/operand_boxed.c', 'wants[i].read = boxes.box[i];',
        'wants[i].read = i ? none : boxes.box[i];', {}),
    'further-boxes-are-not-written': (
        'call/operand_boxed.c', 'wants[i].write = boxes.box[i];',
        'wants[i].write = i ? none : boxes.box[i];', {}),
    'boxes-have-no-room-between': (
        'call/operand_boxed.c',
        'want.around = adsm_box_hull(&want.around, &boxes.box[i]);', ';', {}),
    'further-boxes-are-not-counted': (
        'range/spread_choose.c', 'want->copy->uses++;', ';', {}),
    'writes-may-meet': (
        'call/operand_overlap.c', 'boxes_meet(&list[i], &list[k]))', 'false)',
        {}),
    'boxes-may-lie-beyond': (
        'call/operand_boxed.c',
        'rc = check_inside(call, operand, part, &boxes.box[i], i);', ';', {}),
}
# What shows those that the model test has, too.
OF_MODEL = {'evict-loses': TIGHT,
            'upload-before-download': {'SOFTCUDA_PEER': '0'}}


def row_of(fault, library):
    """The row of a fault: of the table, or made for one of the rules."""
    if fault == 'none':
        return 'range/spread.c', '', '', {}
    if fault in FAULTS:
        return FAULTS[fault]
    text = f'ADSM_PLANTED("{fault}")'
    files = [path for path in (library / 'range').glob('*.c')
             if text in path.read_text(encoding='utf-8')]
    name = files[0].name if files else 'plan.c'
    return f'range/{name}', text, 'true', OF_MODEL.get(fault, {})


def planted(fault, library):
    """The file and its changed text; None when the place is not there once."""
    name, old, new, _ = row_of(fault, library)
    text = (library / name).read_text(encoding='utf-8')
    if old and text.count(old) != 1:
        print(f'{fault}: "{old}" is {text.count(old)} times in {name}')
        return name, None
    return name, text.replace(old, new) if old else text


def commands(build, target):
    """The command that makes a target, without those for what it is made of."""
    made = subprocess.run(['ninja', '-C', build, '-t', 'commands', '-s', target],
                          capture_output=True, text=True, check=True)
    return made.stdout.strip().splitlines()[-1]


def run(command, build):
    done = subprocess.run(command, shell=True, cwd=build, capture_output=True,
                          text=True)
    if done.returncode != 0:
        print(command, done.stdout, done.stderr, sep='\n')
        sys.exit(2)


def compiled(build, source):
    """How the build compiles a file of the library: its command and output."""
    database = json.loads((build / 'compile_commands.json').read_text())
    for entry in database:
        path = (build / entry['file']).resolve()
        if path == source.resolve() and 'tsan' not in entry['output']:
            return entry
    print(f'{source} is not compiled')
    sys.exit(2)


def make(fault, build, library, folder):
    """libadsm.so.0 with the fault, in a folder."""
    name, text = planted(fault, library)
    if text is None:
        sys.exit(1)
    entry = compiled(build, library / name)
    source, made = folder / 'planted.c', folder / 'planted.o'
    source.write_text(text, encoding='utf-8')
    command = re.sub(r'-MD -MQ \S+ -MF \S+', '', entry['command'])
    command = command.replace(f"-o {entry['output']}", f'-o {made} -w')
    run(command.replace(f"-c {entry['file']}", f'-c {source}'), build)
    link = commands(build, 'libadsm/libadsm.so.0.1.0')
    run(re.sub(r'-o (\S+)', f"-o {folder / 'libadsm.so.0'} {made} "
               '-Wl,-z,muldefs', link, count=1), build)


def find(fault, program, env):
    """Run until something is found. Return: was it?"""
    seeds = SOUND_SEEDS if fault == 'none' else SEEDS
    for seed in range(1, seeds + 1):
        words = [program, '2500', str(seed), '3']
        try:
            done = subprocess.run(words, env=env, capture_output=True,
                                  text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            print(f'{fault}: seed {seed} did not end')
            return True
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ['']
            print(f'{fault}: seed {seed} ends with {done.returncode}: '
                  f'{lines[-1]}')
            return True
    print(f'{fault}: {seeds} seeds found nothing')
    return False


def main():
    if sys.argv[1] == '--list':
        library = pathlib.Path(sys.argv[2])
        there = [planted(fault, library)[1] for fault in sys.argv[3:]]
        unnamed = set(FAULTS) - set(sys.argv[3:])
        print(f'{len(there)} faults, not asked for: {sorted(unnamed)}')
        sys.exit(0 if all(there) and not unnamed else 1)
    fault = sys.argv[1]
    build, library, program = (pathlib.Path(word) for word in sys.argv[2:5])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(fault, build, library, folder)
        env = dict(os.environ, **row_of(fault, library)[3])
        env['LD_LIBRARY_PATH'] = f"{folder}:{env['LD_LIBRARY_PATH']}"
        found = find(fault, str(program), env)
    sys.exit(0 if found == (fault != 'none') else 1)


if __name__ == '__main__':
    main()
