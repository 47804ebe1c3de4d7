#!/usr/bin/env python3
"""What gpu-check.sh takes along to a machine that has a driver only.

    pack.py --tests ROOT BUILD            the tests of suite gpu, a line each
    pack.py --files ROOT BUILD            what the archive has, a path each
    pack.py ROOT BUILD FILE.tar.gz        the archive

A line has a name, a group, a time limit in seconds and the words of the
command, environment first, between tabs; @root@, @build@ and @device@ stand
for the folders of the machine it will run on. The archive has the shape of the
source folder with the build in `build` and libraries that a machine may lack
in `lib`.
"""
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile

MOST_BYTES = 60 << 20
GROUPS = ('opcodes', 'interpose', 'regress', 'core')
# What every machine has.
SYSTEM = re.compile(r'lib(c|m|dl|pthread|rt|gcc_s|cuda)\.so|ld-linux|linux-vdso')
SOURCES = ('LICENSE', 'README.md', 'tools/gpu-check.sh', 'tools/gpu-check',
           'tools/python', 'tests/cuda', 'bench/wave/data',
           'bench/parboil/data', 'bench/ranges/data')
PROGRAMS = ('tools/adsm-run', 'tools/adsm-info', 'tools/gpu-check/gpu-probe',
            'interpose/libadsm-preload.so')
FOLDERS = ('libadsm', 'tools/softcuda', 'bench/wave', 'bench/parboil',
           'bench/ranges', 'bench/micro', 'bench/softcuda', 'bench/access',
           'tests/interpose/victims')


def introspected(build):
    """Meson's tests of suite gpu."""
    text = subprocess.run(['meson', 'introspect', '--tests', build], check=True,
                          capture_output=True, text=True).stdout
    return [test for test in json.loads(text)
            if any(suite.endswith(':gpu') or suite == 'gpu'
                   for suite in test['suite'])]


def group(test):
    suites = [suite.split(':')[-1] for suite in test['suite']]
    return next((name for name in GROUPS if name in suites), 'core')


def place(word, root, build):
    """A word with the folders of this machine taken out."""
    softcuda = os.path.join(build, 'tools', 'softcuda')
    inside = os.path.join(build, 'subprojects', 'softcuda')
    parts = []
    for part in word.split(':'):
        if part in (softcuda, inside):
            part = '@device@'
        if part not in parts:
            parts.append(part)
    word = ':'.join(parts)
    return word.replace(build, '@build@').replace(root, '@root@')


def line(test, root, build):
    env = [f'{name}={place(value, root, build)}'
           for name, value in sorted(test['env'].items())]
    words = env + [place(word, root, build) for word in test['cmd']]
    spoilt = [word for word in words if re.search(r'\s', word)]
    if spoilt:
        sys.exit(f'pack.py: {test["name"]}: white space in {spoilt[0]!r}')
    name = test['name'].replace(' ', '-')
    return f'{name}\t{group(test)}\t{test["timeout"]}\t{" ".join(words)}\n'


def tests(root, build):
    return ''.join(line(test, root, build) for test in introspected(build))


def is_product(path):
    """A program or a shared library, and no intermediate file."""
    name = os.path.basename(path)
    return (os.path.isfile(path) and os.access(path, os.X_OK)
            and not name.endswith(('.py', '.sh')))


def products(root, build):
    """Relative paths below the build folder."""
    found = set(PROGRAMS)
    for folder in FOLDERS:
        for name in os.listdir(os.path.join(build, folder)):
            if is_product(os.path.join(build, folder, name)):
                found.add(os.path.join(folder, name))
    for test in introspected(build):
        if is_product(test['cmd'][0]):
            found.add(os.path.relpath(test['cmd'][0], build))
    missing = [path for path in sorted(found)
               if not os.path.exists(os.path.join(build, path))]
    if missing:
        sys.exit(f'pack.py: not built: {", ".join(missing[:5])}; '
                 f'run ninja -C {build}, with tests')
    return sorted(found)


def libraries(build, paths):
    """Shared libraries of other packages that the programs need."""
    found = {}
    for path in paths:
        text = subprocess.run(['ldd', os.path.join(build, path)], check=False,
                              capture_output=True, text=True).stdout
        for name, where in re.findall(r'(\S+) => (/\S+)', text):
            where = os.path.realpath(where)
            if not SYSTEM.match(name) and not where.startswith(build):
                found[name] = where
    return found


def sources(root):
    """Paths below the source folder."""
    for path in SOURCES:
        if os.path.isfile(os.path.join(root, path)):
            yield path
        for folder, _, names in os.walk(os.path.join(root, path)):
            for name in sorted(names):
                if not folder.endswith('__pycache__'):
                    yield os.path.relpath(os.path.join(folder, name), root)


def contents(root, build):
    """What lies where in the archive: pairs of its path and ours."""
    paths = products(root, build)
    yield from ((path, os.path.join(root, path)) for path in sources(root))
    yield from ((os.path.join('build', path), os.path.join(build, path))
                for path in paths)
    yield from ((os.path.join('lib', name), where)
                for name, where in libraries(build, paths).items())


def pack(root, build, out):
    text = tests(root, build).encode()
    pairs = list(contents(root, build))
    with tarfile.open(out, 'w:gz', dereference=True) as archive:
        for path, where in pairs:
            archive.add(where, path)
        info = tarfile.TarInfo('tools/gpu-check/tests')
        info.size = len(text)
        info.mode = 0o644
        archive.addfile(info, io.BytesIO(text))
    size = os.path.getsize(out)
    print(f'{out}: {size / (1 << 20):.1f} MiB, {len(pairs)} files. '
          f'There: mkdir check && tar xzf {os.path.basename(out)} '
          '-C check && check/tools/gpu-check.sh')
    if size > MOST_BYTES:
        sys.exit(f'pack.py: more than {MOST_BYTES >> 20} MiB')


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if sys.argv[1] == '--tests':
        root, build = (os.path.realpath(path) for path in sys.argv[2:4])
        sys.stdout.write(tests(root, build))
    elif sys.argv[1] == '--files':
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for path, _ in contents(*(os.path.realpath(path)
                                  for path in sys.argv[2:4])):
            print(path)
    else:
        pack(*(os.path.realpath(path) for path in sys.argv[1:3]), sys.argv[3])


if __name__ == '__main__':
    main()
