#!/usr/bin/env python3
"""Load the PTX that nvcc makes of programs for one capability.

    check_architecture.py NVCC CAPABILITY SOURCE[|FLAG]...

The device must take all of it. What is run for which capability is up to the
list of programs; this finds what a capability prints that none of them has.
"""
import ctypes
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def compile_one(nvcc, capability, words, path):
    """Write the PTX of one program. Return what went wrong, or None."""
    done = subprocess.run(
        [nvcc, '-Wno-deprecated-gpu-targets', f'-arch=compute_{capability}',
         '--ptx', '-o', path, *words[1:], words[0]],
        capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def open_device():
    """The driver, with a context."""
    cuda = ctypes.CDLL(os.path.join(os.environ['DEVICE_DIR'], 'libcuda.so.1'))
    context = ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0):
        sys.exit('the device does not start')
    return cuda


def load(cuda, path):
    """Status of loading a text; the driver says on stderr what it refuses."""
    module = ctypes.c_void_p()
    with open(path, 'rb') as file:
        text = file.read() + b'\0'
    status = cuda.cuModuleLoadData(ctypes.byref(module), text)
    if not status:
        cuda.cuModuleUnload(module)
    return status


def main():
    nvcc, capability = sys.argv[1:3]
    programs = sorted(set(sys.argv[3:]))
    failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = [os.path.join(folder, f'{i}.ptx')
                 for i in range(len(programs))]
        errors = list(pool.map(
            lambda pair: compile_one(nvcc, capability, pair[0].split('|'),
                                     pair[1]), zip(programs, paths)))
        cuda = open_device()
        for program, path, error in zip(programs, paths, errors):
            error = error or load(cuda, path)
            if error:
                failed += 1
                print(f'{program}: {error}', flush=True)
    count = len(programs)
    print(f'{100 * (count - failed) // max(count, 1)}%: Checks: {count}, '
          f'Failures: {failed}, Errors: 0')
    sys.exit(failed != 0)


if __name__ == '__main__':
    main()
