#!/usr/bin/env python3
"""Run a program that brings NVIDIA's runtime library.

    check_static.py PROGRAM

Its calls fail, as that library runs on NVIDIA's driver only. The program has to
say once what helps, and has to end by itself.
"""
import os
import subprocess
import sys

HELP = 'nvcc -cudart shared'


def main():
    env = dict(os.environ, LD_LIBRARY_PATH=os.environ['DEVICE_DIR'])
    done = subprocess.run([os.path.abspath(sys.argv[1])], env=env, timeout=60,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    good = done.stderr.count(HELP) == 1 and done.returncode > 0
    if not good:
        print(f'status {done.returncode}\n{done.stdout}{done.stderr}')
    print(f'{100 * good}%: Checks: 1, Failures: {int(not good)}, Errors: 0')
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
