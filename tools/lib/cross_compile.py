#!/usr/bin/env python3
"""Compile (not link) every source of a finished build with a cross compiler.

cross_compile.py COMPILER BUILD-DIR OUT-DIR

Follows BUILD-DIR/compile_commands.json with the compiler exchanged. Headers of
libraries that the target's C library does not bring (libsigsegv, uthash) are
copied alone into OUT-DIR, so that the host's own C library headers cannot be
found by mistake. Tests and benches of libadsm need more such libraries and are
left out, and so is what a build generates for its own machine only. What
several targets compile with the same macros is compiled once.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

BORROWED = ('sigsegv.h', 'uthash.h', 'utlist.h', 'utarray.h')
ROOMS = ('libadsm/', 'ptx/', 'protocols/', 'interpose/', 'tools/')
# Sources built for one kind of x86 only, and the macro that says they exist.
HOST_ONLY = '-march=x86-64'
DROP = ('-DSC_HAVE_X86_SETS', '-I/usr/include')
# What meson puts before the compiler when it is installed.
CACHES = ('ccache', 'sccache')


def borrow_headers(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in BORROWED:
        source = pathlib.Path('/usr/include') / name
        if source.exists():
            shutil.copy(source, folder / name)


def arguments(entry, compiler, headers, output):
    """The entry's own command line for `compiler`, writing to `output`."""
    words = shlex.split(entry['command'])
    words = words[2 if pathlib.Path(words[0]).name in CACHES else 1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ('-o', '-MF', '-MQ', '-MT'):
            skip = True
        elif word in ('-MD', '-c') or word.startswith(DROP):
            continue
        else:
            kept.append(word)
    # What depends on the machine shows without optimising.
    return [compiler, *kept, '-O0', '-fdiagnostics-color=never', '-isystem',
            str(headers), '-c', '-o', str(output)]


def chosen(build):
    """(name, entry) of every source the target has."""
    root = pathlib.Path.cwd()
    seen = set()
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        source = (pathlib.Path(entry['directory']) / entry['file']).resolve()
        if not source.is_relative_to(root):
            continue
        name = str(source.relative_to(root))
        if not name.startswith(ROOMS) or not name.endswith('.c') or \
                HOST_ONLY in entry['command']:
            continue
        macros = [word for word in shlex.split(entry['command'])
                  if word.startswith(('-D', '-U'))]
        form = (name, *macros)
        if form not in seen:
            seen.add(form)
            yield name, entry


def main():
    compiler, build, out = sys.argv[1], pathlib.Path(sys.argv[2]), \
        pathlib.Path(sys.argv[3]).resolve()
    borrow_headers(out / 'include')

    def compile_one(task):
        number, (_, entry) = task
        output = out / f'{number}.o'
        run = subprocess.run(
            arguments(entry, compiler, out / 'include', output),
            cwd=entry['directory'], capture_output=True, text=True,
            check=False)
        output.unlink(missing_ok=True)
        return run

    work = list(chosen(build))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _), run in zip(work, pool.map(compile_one,
                                                 enumerate(work))):
            if run.returncode:
                failed += 1
                print(name, run.stderr, sep='\n')
    print(f'{len(work) - failed} of {len(work)} sources compile '
          f'with {compiler}')
    return 1 if failed or not work else 0


if __name__ == '__main__':
    sys.exit(main())
