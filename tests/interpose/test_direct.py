#!/usr/bin/env python3
"""Preloaded programs where the device shares the host's memory.

    test_direct.py VICTIM_DIR DEVICE_DIR PRELOAD

They print what they print bare, and the runtime moved no byte. Where they see to
it themselves when they look, it saw no fault.
Asked for on a device with memory of its own it is refused in one sentence.
"""
import json
import os
import subprocess
import sys
import tempfile

STILL = ('faults_read', 'faults_write', 'fetches', 'flushes', 'write_backs',
         'loans', 'bulk_device', 'bulk_host')
MOVES = ('fetches', 'flushes', 'write_backs', 'bulk_device')


def run(victims, name, mode, **settings):
    """(status, output, messages) of a victim."""
    env = dict(os.environ, **settings)
    done = subprocess.run([os.path.join(victims, name), mode], env=env,
                          capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def check(good, what):
    """One line for each thing that is wrong."""
    if not good:
        print(what)
    return int(not good)


def main():
    victims, device, preload = sys.argv[1:4]
    bare = {'LD_LIBRARY_PATH': device, 'SOFTCUDA_INTEGRATED': '1'}
    failed = 0
    for name, mode in (('copies', 'explicit'), ('threads', 'explicit'),
                       ('lives', 'explicit'), ('overlap', 'explicit'),
                       ('overlap', 'touch')):
        with tempfile.NamedTemporaryFile() as stats:
            wanted = run(victims, name, 'explicit', **bare)
            seen = run(victims, name, mode, **bare, LD_PRELOAD=preload,
                       ADSM_STATS_FILE=stats.name)
            counts = json.loads(stats.read().decode().splitlines()[-1])
        failed += check(seen[:2] == wanted[:2], f'{name}: another result')
        failed += check(counts['allocs'] > 0, f'{name}: not preloaded')
        for what in STILL if mode == 'explicit' else MOVES:
            failed += check(counts[what] == 0,
                            f'{name}: {what} {counts[what]}')
    status, _, messages = run(victims, 'copies', 'explicit',
                              LD_LIBRARY_PATH=device, LD_PRELOAD=preload,
                              ADSM_ADDRESS='direct')
    failed += check(status != 0, 'a device with memory of its own was used so')
    failed += check(messages.count('the device has memory of its own') == 1,
                    f'what is said: {messages}')
    sys.exit(failed > 0)


main()
