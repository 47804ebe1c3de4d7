"""Programs bare and preloaded, for the tests of what is never touched."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402,F401

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = BUILD / 'tests/untouched'
PRELOAD = str(BUILD / 'interpose/libadsm-preload.so')
PLAIN = {name: value for name, value in os.environ.items()
         if name == 'PLANTED_DRIVER' or not name.startswith(
             ('ADSM_', 'SOFTCUDA_', 'LD_', 'PLANTED'))}
# What the tests are about; name another, and see them fail.
ADDRESS = os.environ.get('UNTOUCHED_ADDRESS', 'adopt')


def bare(**more):
    """The environment of a bare run."""
    return {**PLAIN, **more}


def preloaded(**more):
    """The environment of a preloaded one."""
    return bare(LD_PRELOAD=PRELOAD, ADSM_ADDRESS=ADDRESS, **more)


def run(env, *words):
    """Status, output and what was said beside it."""
    done = subprocess.run(list(map(str, words)), env=env, text=True,
                          capture_output=True, check=False, timeout=280)
    return done.returncode, done.stdout, done.stderr


def need_address():
    """Skips where the library does not know that address strategy."""
    _, _, said = run(bare(ADSM_ADDRESS=ADDRESS), BUILD / 'tools/adsm-info',
                     '--json', '--options')
    if 'is not valid' in said:
        raise unittest.SkipTest(f'there is no ADSM_ADDRESS={ADDRESS}')
