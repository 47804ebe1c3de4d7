"""Programs of bench/ranges: their inputs, and runs for their counters."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(os.environ['RANGES_PROGRAMS'])


def make(folder, name, numbers):
    """A small input, with these numbers ('n=5 ...') for its own."""
    path = pathlib.Path(folder, name)
    subprocess.run([PROGRAMS / 'ranges-data', name, 'small', path,
                    *numbers.split()], check=True, timeout=60)
    return path


def counters(name, devices, *words, **settings):
    """Of one run; None, when what the program says is printed: it fails."""
    with tempfile.TemporaryDirectory() as folder:
        stats = pathlib.Path(folder, 'stats')
        done = subprocess.run(
            [PROGRAMS / (name + '_adsm'), *words], check=False, timeout=120,
            capture_output=True, text=True,
            env={**os.environ, 'SOFTCUDA_DEVICES': str(devices),
                 'ADSM_STATS_FILE': str(stats), **settings})
        if done.returncode:
            print(done.stderr, end='')
            return None
        found = json.loads(stats.read_text().splitlines()[-1])
        return found.get('counters', found)


def count(names, name, devices, *words):
    """Some of them, of a run in as many parts as devices."""
    found = counters(name, devices, *words, ADSM_PARTS=str(devices))
    if not found:
        sys.exit('%s on %d devices failed' % (name, devices))
    return [int(found[counter]) for counter in names]
