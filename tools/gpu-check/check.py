#!/usr/bin/env python3
"""Whether libadsm works with this machine's CUDA driver, how fast it is, and
what to report where it does not.

Steps, all of them when none is named:
  facts       driver, device, toolkit, kernel, limits of this machine
  addresses   what the driver does with addresses; every way to share them
  preload     the suites of the preload library; programs of this machine's nvcc
  kernels     PTX and whole programs beside the software device, bit for bit
  frameworks  PyTorch, CuPy, JAX, Numba, PyCUDA: bare, preloaded, NumPy in place
  speed       benchmarks and benches, beside copies by hand and managed memory
  seven       the paper's benchmarks with seconds of work for the device, over
              the better of two programs by hand: some 12 minutes, so with
              --minutes 15 and alone

What tells most comes first, in lanes beside each other; what is timed comes at
the end, alone; what there is no time for is said. After each item all there is
lies in DIR: a log of each item, results.jsonl, what opcodes answered, and
hardware.md, a section for docs/hardware.md which ends with what failed and how
to repeat it; and, packed, in DIR.tar.gz.

Ends with 0; 1 when an item failed; 2 for bad arguments; 77 without a device.
"""
import argparse
import glob
import os
import signal
import subprocess
import sys

import machine
import steps
from item import Running
from lanes import Lanes
from report import Report

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STEPS = ('facts', 'addresses', 'preload', 'kernels', 'frameworks', 'speed',
         'seven')
FOREVER = 7 * 24 * 3600


def die(text):
    print(f'gpu-check.sh: {text}; see --help', file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        die(message)


def minutes(text):
    value = float(text)
    if not 0 <= value <= 10000:
        raise ValueError
    return value


def lanes(text):
    value = int(text)
    if not 1 <= value <= 256:
        raise ValueError
    return value


def arguments():
    parser = Parser(prog='gpu-check.sh', description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('steps', nargs='*', metavar='STEP')
    parser.add_argument('--minutes', type=minutes, default=8.0, metavar='N',
                        help='how long it may take (8); 0: as long as it takes')
    parser.add_argument('--quick', action='store_true',
                        help='only what tells most, smaller inputs, one round')
    parser.add_argument('--lanes', type=lanes, metavar='N',
                        default=len(os.sched_getaffinity(0)),
                        help='how many run beside each other (all cores)')
    parser.add_argument('--soft', action='store_true',
                        help='the software device in place of the driver: tries '
                        'out this script')
    parser.add_argument('--out', default='gpu-check-out', metavar='DIR',
                        help='results (gpu-check-out)')
    parser.add_argument('--build', default=f'{ROOT}/build', metavar='DIR',
                        help='what meson setup and ninja made (build)')
    parser.add_argument('--pack', metavar='FILE',
                        help='write an archive with all that is needed on a '
                        'machine that has a driver and nothing of this: unpack '
                        'it there and run this script')
    parser.add_argument('--files', action='store_true',
                        help='say what that archive would have')
    words = parser.parse_args()
    for step in words.steps:
        if step not in STEPS:
            die(f"'{step}' is no step; steps are {', '.join(STEPS)}")
    words.build = os.path.abspath(words.build)
    words.out = os.path.abspath(words.out)
    if any(char.isspace() for char in ROOT + words.build + words.out):
        die('folders with white space in their names do not work here')
    if not os.access(f'{words.build}/tools/adsm-run', os.X_OK):
        die(f"'{words.build}' holds no build: meson setup build && ninja "
            '-C build')
    return words


def pack(*words):
    os.execvp('python3', ['python3', f'{HERE}/pack.py', *words])


def link_libraries(folder):
    """Those of the archive that the loader would not find here: the machine's
    own go before them, since its compiler uses some of them as well."""
    os.makedirs(folder, exist_ok=True)
    path = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
    known = subprocess.run(['ldconfig', '-p'], capture_output=True, text=True,
                           env={**os.environ, 'PATH': path},
                           check=False).stdout.split()
    for library in glob.glob(f'{ROOT}/lib/*.so.*'):
        name = os.path.basename(library)
        if name not in known and not os.path.lexists(f'{folder}/{name}'):
            os.symlink(library, f'{folder}/{name}')


def environment(words):
    """What every item gets, and the folder of the device's library."""
    softcuda = f'{words.build}/tools/softcuda'
    libraries = f'{words.out}/lib'
    link_libraries(libraries)
    device = softcuda if words.soft else os.environ.get('LD_LIBRARY_PATH', '')
    path = ':'.join(part for part in (device, libraries) if part)
    env = {**os.environ, 'LD_LIBRARY_PATH': path, 'LC_ALL': 'C',
           'build': words.build, 'softcuda': softcuda, 'libraries': libraries}
    env.pop('LD_PRELOAD', None)
    return env, path


def test_list(words):
    """The archive has one; a build folder is asked."""
    path = f'{HERE}/tests'
    if os.path.exists(path):
        return path
    path = f'{words.out}/tests'
    with open(path, 'w') as out:
        if subprocess.run(['python3', f'{HERE}/pack.py', '--tests', ROOT,
                           words.build], stdout=out, check=False).returncode:
            die(f"cannot list the tests of '{words.build}'")
    return path


def without_device(words, env):
    """What gpu-probe says where there is none, or ''."""
    probe = f'{words.build}/tools/gpu-check/gpu-probe'
    if not os.access(probe, os.X_OK):
        die(f"'{words.build}' was built without tests and tools: ninja -C "
            f'{words.build}')
    done = subprocess.run([probe, '--table', 'driver'], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.stdout.strip() if done.returncode == 77 else ''


def say_load(report):
    """Other work would spoil the figures."""
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > cores / 2:
        report.notes.append(
            f'Other work ran here (load average {load:.1f}, {cores} cores): '
            'figures mean little.')
        report.say(f'  {report.notes[-1]}')


def run(words, report, order, place, tests):
    chosen = words.steps or STEPS
    items = []
    if 'facts' in chosen:
        for name, value in machine.facts(report.device):
            report.fact(name, value or '-')
    if 'speed' in chosen or 'seven' in chosen:
        say_load(report)
    if 'addresses' in chosen:
        told = {item.name: item for item in steps.answers(place)}
        for item in told.values():
            order.one(item)
        if not order.running.over:
            items += steps.addresses(place, tests, told)
    if 'preload' in chosen:
        items += steps.preload(place, tests)
    if 'kernels' in chosen:
        items += steps.kernels(place, tests)
    if 'frameworks' in chosen:
        items += steps.frameworks(place)
    if 'speed' in chosen:
        items += steps.speed(place)
    if 'seven' in chosen:
        items += steps.seven(place)
    order.all([item for item in items if item.rank == 0 or not words.quick])


def main():
    words = arguments()
    if words.files:
        pack('--files', ROOT, words.build)
    if words.pack:
        pack(ROOT, words.build, words.pack)
    os.makedirs(f'{words.out}/programs', exist_ok=True)
    env, device = environment(words)
    which = ('the software device' if words.soft
             else 'the CUDA driver of this machine')
    print(f'gpu-check: libadsm of {words.build}, {which}', flush=True)
    reason = without_device(words, env)
    if reason:
        print(f'{reason}\ngpu-check: no CUDA device here; --soft tries out '
              'the software device')
        sys.exit(77)
    report = Report(words.out, 'tools/gpu-check.sh ' +
                    ' '.join(sys.argv[1:]), env)
    report.device = machine.device(words.build, env)
    place = steps.Place(ROOT, words.build, words.out, device, words.soft,
                        words.quick)
    running = Running()
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, lambda *_: running.end())
    order = Lanes(report, running, env, words.lanes,
                  words.minutes * 60 or FOREVER)
    run(words, report, order, place, steps.read_tests(place, test_list(words)))
    if running.over:
        report.notes.append('Stopped before its end.')
    report.save()
    failed = any(item.failed() for item in report.items)
    if failed:
        print('\nWhat failed, with the commands that repeat it, is at the end '
              f'of {words.out}/hardware.md.')
    print(f'\n{report.sums()} in {report.seconds():.0f} s; the report: '
          f'{words.out}/hardware.md, and all of it in {words.out}.tar.gz')
    sys.exit(1 if failed or running.over else 0)


if __name__ == '__main__':
    main()
