#!/usr/bin/env python3
"""What the tree is made of, room by room, and how that differs from before.

usage: tools/lib/house.py [REVISION ...]

A table for each revision (default: the files as they are here), then the lines
by kind. A room is a folder of the runtime. Of each: files and their lines, those
of more than 400 lines, functions, those of more than 40 lines, variables that
are written (at file scope and static ones in functions, one of a thread counts as
one) and how many of those there are in 1,000 lines, and the include cycles: how
many modules the largest has, of how many. A module is a name with its .c and .h.

The sources are read as clang-format leaves them, a function between braces in the
first column; no compiler is asked.
"""
import collections
import io
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROOMS = ('libadsm', 'protocols', 'interpose', 'ptx')
KINDS = (('generated', r'\.ptx$'),
         ('pages', r'\.(md|[137])$'),
         ('tests', r'(^|/)tests/'),
         ('benches', r'^bench/'),
         ('software device', r'^(tools/)?softcuda/'),
         ('runtime', r'^(libadsm|protocols|interpose|ptx)/.*\.(c|h|S|def)$'),
         ('kernels', r'\.cu$|^(tools/cuda|kernels)/'),
         ('tools', r'^tools/'),
         ('build', r'meson|^debian/'))
LONG_FILE, LONG_FUNCTION = 400, 40
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"'
                     r"|'(?:[^'\\\n]|\\.)*'", re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:.*\\\n)*.*$', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
NO_VARIABLE = re.compile(r'(typedef|extern|_Static_assert|static_assert|asm)\b'
                         r'|(struct|enum|union)\s*\w*\s*(\{\})?$')
STATIC = re.compile(r'\s+static (?!const\b[^*]*$)(?!_Static)')


def files_of(revision):
    """{path: text} of a revision's files, or of the files here for None."""
    if revision is None:
        names = subprocess.run(['git', 'ls-files'], cwd=ROOT, check=True,
                               text=True, capture_output=True).stdout
        paths = [ROOT / name for name in names.splitlines()]
        return {path.relative_to(ROOT).as_posix():
                path.read_text(encoding='utf-8', errors='replace')
                for path in paths if path.is_file() and not path.is_symlink()}
    packed = subprocess.run(['git', 'archive', revision], cwd=ROOT, check=True,
                            capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        return {entry.name: tar.extractfile(entry).read().decode(
            'utf-8', 'replace') for entry in tar if entry.isreg()}


def room_of(name):
    """The folder a source of the runtime counts for, or None."""
    folder = name.rpartition('/')[0]
    if folder.split('/')[0] in ROOMS and name.endswith(('.c', '.h')) \
            and '/tests' not in folder:
        return folder
    return None


def bare(text):
    """C without comments, directives and the insides of literals."""
    text = COMMENT.sub(lambda m: '""' if m.group()[0] in '"\'' else
                       '\n' * m.group().count('\n'), text)
    return DIRECTIVE.sub('', text)


def functions(text):
    """Lengths of the functions in lines, braces included."""
    begin, lengths = None, []
    for number, line in enumerate(text.splitlines()):
        if line == '{':
            begin = number
        elif line == '}' and begin is not None:
            lengths.append(number - begin + 1)
            begin = None
    return lengths


def declared(statement):
    """How many variables that can be written a declaration defines."""
    head = re.sub(r'\b_?alignas\([^)]*\)|__attribute__\(\(.*?\)\)', '',
                  ' '.join(statement.split()))
    head = re.split(r'\s=\s', head)[0] if ',' not in head else \
        re.sub(r'=[^,]*', '', head)
    if NO_VARIABLE.match(head) or not re.match(r'[A-Za-z_]', head):
        return 0
    pointer = re.search(r'\(\*+(const )?\w+[^)]*\)\s*\(', head)
    if '(' in head and not pointer:
        return 0
    if not re.search(r'[\w\])]\s+\**\w|\*\w|\}\s*\**\w', head) and not pointer:
        return 0
    behind = head.rpartition('*')[2] if '*' in head else head
    if re.search(r'\bconst\b', behind):
        return 0
    return 1 + (0 if pointer else re.sub(r'\[.*?\]|\{.*?\}', '',
                                         head).count(','))


def variables(text):
    """How many there are at file scope, and static ones in functions."""
    count, depth, statement = 0, 0, ''
    in_function = False
    for line in text.splitlines():
        if depth == 0 and line == '{':
            in_function, statement = True, ''
        if in_function:
            if STATIC.match(line):
                count += 1 if ' = ' in line else 1 + line.count(',')
            in_function = line != '}'
            continue
        for c in line + '\n':
            if c == '{':
                depth += 1
                statement += '{'
            elif c == '}':
                depth -= 1
                statement += '}' if depth == 0 else ''
            elif depth == 0 and c == ';':
                count += declared(statement.strip())
                statement = ''
            elif depth == 0:
                statement += c
    return count


def module_of(name):
    return re.sub(r'\.[ch]$', '', name)


def included(files, name):
    """The modules whose headers a file includes."""
    for header in INCLUDE.findall(files[name]):
        for place in (name.rpartition('/')[0], '', 'libadsm'):
            path = f'{place}/{header}' if place else header
            if path in files:
                yield module_of(path)
                break


def cycles(graph):
    """Tarjan's strongly connected components of more than one module."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(stack[at:])
            del stack[at:]

    for node in graph:
        if node not in index:
            visit(node)
    return found


def include_graph(files, names):
    """{module: the modules it includes} among these files."""
    graph = {module_of(name): set() for name in names}
    for name in names:
        graph[module_of(name)] |= {module for module in included(files, name)
                                   if module in graph} - {module_of(name)}
    return graph


def largest(files, names):
    """Modules in the largest include cycle of these files, and in all."""
    graph = include_graph(files, names)
    return max((len(c) for c in cycles(graph)), default=0), len(graph)


def row_of(files, label, names):
    texts = [files[name] for name in names]
    lines = sum(text.count('\n') for text in texts)
    lengths = [n for text in texts for n in functions(text)]
    count = sum(variables(bare(files[name])) for name in names)
    cycle, modules = largest(files, names)
    return (label, len(names), lines,
            sum(text.count('\n') > LONG_FILE for text in texts), len(lengths),
            sum(n > LONG_FUNCTION for n in lengths), count,
            f'{1000 * count / max(lines, 1):.1f}',
            f'{cycle} of {modules}' if cycle else '-')


def report(revision):
    files = files_of(revision)
    rooms = collections.defaultdict(list)
    for name in sorted(files):
        if room_of(name):
            rooms[room_of(name)].append(name)
    print(f'\n{revision or "as it is here"}')
    head = ('room', 'files', 'lines', f'>{LONG_FILE}', 'functions',
            f'>{LONG_FUNCTION}', 'variables', '/1000', 'cycle')
    rows = [head] + [row_of(files, room, names)
                     for room, names in rooms.items()]
    library = [name for room, names in rooms.items() for name in names
               if room.split('/')[0] in ('libadsm', 'protocols')]
    rows.append(row_of(files, 'libadsm and protocols', library))
    rows.append(row_of(files, 'all', sum(rooms.values(), [])))
    for row in rows:
        print(f'{row[0]:24}' + ''.join(f'{cell:>11}' for cell in row[1:]))
    kinds = collections.Counter()
    for name, text in files.items():
        for kind, pattern in KINDS:
            if re.search(pattern, name):
                kinds[kind] += text.count('\n')
                break
    print('lines: ' + ', '.join(f'{kind} {n:,}'
                                for kind, n in kinds.most_common()))


if __name__ == '__main__':
    for wanted in sys.argv[1:] or [None]:
        report(wanted)
