#!/usr/bin/env python3
"""Run one CUDA program bare on the software device and preloaded.

    run_program.py PROGRAM [NAME=VALUE]...

Its output and exit status have to be the same by the interpreter, by native
code, preloaded under each protocol, and preloaded where the device shares the
host's memory; values go to the environment of every run. What its launches
touch by the interpreter lies in what was proved of them. DEVICE_DIR and PRELOAD
say where the libraries are. A program that exits 77 is skipped.
"""
import os
import subprocess
import sys
import tempfile

SKIP = 77
# How a program runs after its first run, and what that puts into its
# environment.
WAYS = {'bare, native code': {'SOFTCUDA_NATIVE': 'wait'}}
for protocol in ('batch', 'lazy', 'rolling'):
    WAYS[f'preloaded, {protocol}'] = {'LD_PRELOAD': os.environ['PRELOAD'],
                                      'ADSM_PROTOCOL': protocol}
WAYS['preloaded, direct'] = {'LD_PRELOAD': os.environ['PRELOAD'],
                             'SOFTCUDA_INTEGRATED': '1'}
# Templates of CUB keep a C compiler busy for seconds each.
TIMEOUT_S = 300


def run(program, settings):
    """(status, output, messages) of one run."""
    env = dict(os.environ, LD_LIBRARY_PATH=os.environ['DEVICE_DIR'])
    env.update(settings)
    try:
        done = subprocess.run([program], env=env, timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
    except subprocess.TimeoutExpired as late:
        return 'late', late.stdout or b'', late.stderr or b''
    return done.returncode, done.stdout, done.stderr


def show(how, result):
    """One run, for the log."""
    status, output, messages = result
    print(f'{how}: status {status}')
    for stream in (output, messages):
        if stream:
            print('  ' + stream.decode(errors='replace').strip()
                  .replace('\n', '\n  '))


def touched(program, common):
    """The first run; (its result, launches, accesses outside of their proof)."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'touched')
        first = run(program, dict(common, SOFTCUDA_NATIVE='off',
                                  SOFTCUDA_TOUCHED=log))
        lines = []
        if os.path.exists(log):
            with open(log, encoding='utf-8') as file:
                lines = file.readlines()
    return (first, sum(line.startswith('launch ') for line in lines),
            [line for line in lines if line.endswith(' WRONG\n')])


def main():
    program = os.path.abspath(sys.argv[1])
    common = dict(word.split('=', 1) for word in sys.argv[2:])
    first, launches, wrong = touched(program, common)
    show('bare, interpreter', first)
    if first[0] == SKIP:
        sys.exit(SKIP)
    print(f'{launches} launches, {len(wrong)} accesses outside of what was '
          'proved', *wrong[:20], sep='\n')
    good = first[0] == 0 and b'PASS ' in first[1]
    checks, failed = 2, int(not good) + bool(wrong)
    for how, settings in WAYS.items() if good else ():
        checks += 1
        result = run(program, dict(common, **settings))
        if result[:2] != first[:2]:
            show(f'{how}: DIFFERENT', result)
            failed += 1
    print(f'{100 * (checks - failed) // checks}%: Checks: {checks}, '
          f'Failures: {failed}, Errors: 0')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
