"""A program of bench/ranges, run for its counters."""
import json
import os
import pathlib
import subprocess
import tempfile

PROGRAMS = pathlib.Path(os.environ['RANGES_PROGRAMS'])


def count(name, devices, counters, *words):
    """These counters of one run in as many parts as devices."""
    with tempfile.TemporaryDirectory() as folder:
        stats = pathlib.Path(folder, 'stats')
        subprocess.run(
            [PROGRAMS / (name + '_adsm'), *words], check=True, timeout=120,
            stdout=subprocess.DEVNULL,
            env={**os.environ, 'SOFTCUDA_DEVICES': str(devices),
                 'ADSM_PARTS': str(devices), 'ADSM_STATS_FILE': str(stats)})
        found = json.loads(stats.read_text().splitlines()[-1])
        found = found.get('counters', found)
        return [int(found[counter]) for counter in counters]
