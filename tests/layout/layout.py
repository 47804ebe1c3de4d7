"""The include table of the design, as data, and the code that checks a tree.

check_tree(root) returns one line per violation:
  - a file includes a header of a layer its own layer may not know;
  - a quoted include that is no file of this tree (foreign headers take <>);
  - a header of this tree in angle brackets;
  - in the libraries, an include that does not name its layer (the headers
    above all layers, those of PUBLIC and init.h, have none);
  - a header x_parts.h included by another than x.c, x.h and x_*.c beside it;
  - below a folder of CYCLES, an include cycle across its folders, or one of more
    modules (a .c and the .h of its name) than stand there;
  - in a folder of ORDER, a module that includes one of a later line, or that no
    line has;
  - a file longer than MOST_LINES;
  - in tests, a path that is made up: somebody, or a test that sets a folder,
    can make it. /dev/null/x cannot be made.
"""
import os
import pathlib
import re

MOST_LINES = 800
# An absolute path at the start of a literal, a word or a value. (/memfd: is how
# /proc/self/maps names memory without a file.)
PATH = re.compile(r'(?:(?<=["\'=!])|(?<=[\w"] ))(/(?!memfd:)[A-Za-z]'
                  r'[\w./-]*)')
# Folders that any system has.
FOLDERS = ['bin', 'dev', 'etc', 'lib', 'proc', 'sys', 'tmp', 'usr', 'var']
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)

# The folders of softcuda, which is a project of its own, bottom up. Names that
# begin with ptx are those of the reader of PTX, one that it uses.
SOFTCUDA = {
    'base': [],
    'native': ['base', 'ptx'],
    'exec': ['base', 'ptx', 'native'],
    'device': ['base', 'native', 'exec'],
    'include': [],
    'driver': ['base', 'ptx', 'include'],
    'cudart': ['include'],
    'nvrtc': [],
    'tests': ['base', 'ptx', 'native', 'exec', 'cudart', 'nvrtc', 'ptx/tests'],
}
# The rooms of the memory manager, bottom up: what an object is, what is noted
# of its blocks, what changes their states, who makes objects, who comes in.
MM = ['object', 'watch', 'state', 'heap', 'doors']
MM_ROWS = ['libadsm/mm'] + [f'libadsm/mm/{room}' for room in MM]
# Layer (longest matching folder wins) -> layers it may include besides itself
# and PUBLIC, which is everybody's: adsm.h stands alone but for its C++ part,
# others include it.
CORE = ['libadsm/base', 'libadsm/os', 'libadsm/accel', 'protocols',
        *MM_ROWS, 'libadsm/range', 'libadsm/code', 'libadsm/call']
PUBLIC = ['libadsm/adsm.h', 'libadsm/adsm_array.h', 'libadsm/adsm_cxx.h',
          'libadsm/adsm_data.h',
          'libadsm/adsm_skeleton.h', 'libadsm/adsm_cpu_operator.h']
TABLE = {
    'ptx': [],
    'ptx/tests': ['ptx'],
    'libadsm/base': [],
    'libadsm/os': ['libadsm/base'],
    # The back end reserves address ranges, needs the real dlsym, and marks
    # threads that are inside the driver for the fault handler.
    'libadsm/accel': ['libadsm/base', 'libadsm/os'],
    # Back ends; nobody includes one, it is known by its table of operations.
    **{f'libadsm/accel/{row}': ['libadsm/base', 'libadsm/os', 'libadsm/accel']
       for row in ('cuda', 'host')},
    'protocols': ['libadsm/base'],
    **{row: ['libadsm/base', 'libadsm/os', 'libadsm/accel', 'protocols',
             *MM_ROWS[1:n]] for n, row in enumerate(MM_ROWS)},
    'libadsm/range': ['libadsm/base', 'libadsm/os', 'libadsm/accel',
                      'protocols', *MM_ROWS],
    'libadsm/code': ['libadsm/base', 'libadsm/os', 'libadsm/accel', 'ptx'],
    'libadsm/call': CORE,
    'libadsm': CORE,
    # libadsm: to bring the runtime up (init.h).
    # ptx: the words in which it says what kernels touch.
    'interpose': ['libadsm/base', 'libadsm/os', 'libadsm/accel', *MM_ROWS,
                  'libadsm/code', 'libadsm/call', 'libadsm', 'ptx'],
    'tools': ['libadsm/base'],
    # adsm-info shows what the layers below decided, and the list of hooks.
    'tools/adsm-info': ['libadsm/base', 'libadsm/os', 'libadsm/accel',
                        'libadsm/code', 'interpose'],
    # It runs where nothing else of this project is.
    'tools/gpu-check': [],
    'tools/softcuda': [],
    **{f'tools/softcuda/{row}': [name if name.startswith('ptx') else
                                 f'tools/softcuda/{name}' for name in below]
       for row, below in SOFTCUDA.items()},
}
# Folders of one layer of which the first may not include the second: what is the
# same for every back end, and one of them.
APART = [('interpose/device', 'interpose/cuda')]
# Folders whose files may include anything: they look at every layer.
FREE = ['tests', 'bench']
TESTS = ['tests', 'ptx/tests', 'tools/softcuda/tests']
# Most modules in one include cycle; 1: there is none.
CYCLES = {'libadsm': 5, 'protocols': 5, 'interpose/calls': 5,
          'interpose/cuda': 1, 'interpose/device': 1, 'interpose/libc': 5,
          'interpose/mpi': 5, 'interpose/report': 1,
          'interpose/signals': 5}
# The modules of a folder, bottom up: each line may include those above it. A name
# that ends in / is of all modules of that folder.
ORDER = {
    'libadsm/accel': [
        'types error launch ops granule share cpu_code',
        'device',
        'extent fence lane lane_parts lane_note lane_table',
        'launched timer store',
        'address/',
        'pinned stage piece rate peer fill',
        'dma_write early dma poke poke_parts poke_log move',
        'inspect accel cuda/ host/',
    ],
    'libadsm/range': [
        'box map map_parts map_join order',
        'copy flight want',
        'plan plan_parts plan_want plan_evict prepare',
        'state carry memory serve residence residence_parts residence_object',
        'check edge',
        'spread spread_parts spread_choose spread_memory array',
    ],
}
# Here every include starts with its layer, whatever folder it is in.
LAYER_NAMED = ['ptx', 'libadsm', 'protocols', 'interpose']
# What an include is relative to, besides the including file's own folder.
SEARCH = ['.', 'libadsm']
SEARCH_PTX = ['.', 'ptx/tests']
SEARCH_SOFTCUDA = ['tools/softcuda', 'tools/softcuda/include',
                   'tools/softcuda/tests'] + SEARCH_PTX


def layer_of(name):
    """The row of TABLE a path belongs to; None outside all rows."""
    parts = name.split('/')[:-1]
    for n in range(len(parts), 0, -1):
        if '/'.join(parts[:n]) in TABLE:
            return '/'.join(parts[:n])
    return None


def under(name, folders):
    """Whether a path lies in one of these folders."""
    return any(name.startswith(folder + '/') for folder in folders)


def find(root, name, header):
    """Path of a quoted header inside the tree, or None."""
    search = SEARCH
    if under(name, ['ptx']):
        search = SEARCH_PTX
    elif under(name, ['tools/softcuda']):
        search = SEARCH_SOFTCUDA
    for place in [os.path.dirname(name)] + search:
        path = os.path.normpath(os.path.join(place, header))
        if not path.startswith('..') and (root / path).is_file():
            return path
    return None


def is_private(name, path):
    """Whether a header is of parts, and not of the including file's module."""
    stem = path.removesuffix('_parts.h')
    own = name.startswith(stem) and name[len(stem)] in '._'
    return stem != path and not own


def check_include(root, name, bracket, header):
    """Violation text for one include line, or None."""
    layer = layer_of(name)
    path = find(root, name, header)
    if bracket == '<':
        own = '/' in header and any((root / place / header).is_file()
                                    for place in SEARCH + SEARCH_SOFTCUDA[:1])
        return f'<{header}> is ours: use quotes' if own else None
    if path is None:
        return f'"{header}" is no file of this tree'
    if under(name, LAYER_NAMED) and '/' not in header and \
            os.path.dirname(path) != 'libadsm':
        return f'"{header}" does not name its layer'
    for folder, other in APART:
        if under(name, [folder]) and under(path, [other]):
            return f'"{header}": {folder} may not include {other}'
    if is_private(name, path):
        return f'"{header}" is private to its module'
    target = layer_of(path)
    if path in PUBLIC and not under(name, ['tools/softcuda']):
        return None
    if target not in [layer] + TABLE[layer]:
        return f'"{header}": {layer} may not include {target}'
    return None


def sources(root):
    """All source files of the tree, as sorted relative names."""
    rooms = sorted({row.split('/')[0] for row in TABLE} | set(FREE))
    return sorted(path.relative_to(root).as_posix()
                  for room in rooms for path in (root / room).rglob('*')
                  if path.suffix in ('.c', '.h', '.def', '.cu', '.S', '.py')
                  and path.is_file())


def check_paths(name, text):
    """Violations of one test: absolute paths outside FOLDERS."""
    return [f'{name}:{text.count(chr(10), 0, match.start(1)) + 1}: '
            f'{match.group(1)} can be made: use a path below /dev/null'
            for match in PATH.finditer(text)
            if match.group(1).split('/')[1] not in FOLDERS]


def check_file(root, name):
    """Violations of one file."""
    text = (root / name).read_text(encoding='utf-8', errors='replace')
    found = []
    lines = text.count('\n')
    if lines > MOST_LINES:
        found.append(f'{name}: {lines} lines, at most {MOST_LINES}')
    if under(name, TESTS):
        found += check_paths(name, text)
    if under(name, FREE) or layer_of(name) is None:
        return found
    for match in INCLUDE.finditer(text):
        what = check_include(root, name, match.group(1), match.group(2))
        if what:
            line = text.count('\n', 0, match.start(1)) + 1
            found.append(f'{name}:{line}: {what}')
    return found


def module_of(path):
    """The module that a .c or .h file is one half of."""
    return path.rsplit('.', 1)[0]


def includes_of(root, names):
    """Module -> the modules among these files that it includes."""
    graph = {module_of(name): set() for name in names}
    for name in names:
        text = (root / name).read_text(encoding='utf-8', errors='replace')
        paths = [find(root, name, match.group(2))
                 for match in INCLUDE.finditer(text)]
        graph[module_of(name)] |= {module_of(path) for path in paths
                                   if path in names} - {module_of(name)}
    return graph


def reached(graph, first):
    """Modules that `first` includes, by way of others as well."""
    found, left = set(), [first]
    while left:
        new = graph[left.pop()] - found
        found |= new
        left += new
    return found


def check_cycles(names, root, folder, most):
    """Violations of one row of CYCLES."""
    graph = includes_of(root, [name for name in names if under(name, [folder])])
    reach = {module: reached(graph, module) for module in graph}
    cycles = {tuple(sorted(other for other in reach[module]
                           if module in reach[other])) for module in graph}
    found = []
    for cycle in sorted(cycles):
        words = f'{" ".join(cycle)}: an include cycle'
        if len({os.path.dirname(module) for module in cycle}) > 1:
            found.append(f'{words} across rooms')
        elif len(cycle) > most:
            found.append(f'{words} of {len(cycle)} modules, at most {most}')
    return found


def line_of(lines, module):
    """Number of the line of ORDER that has a module; None: none has it."""
    for n, line in enumerate(lines):
        if any(module == name or name[-1] == '/' and module.startswith(name)
               for name in line.split()):
            return n
    return None


def check_order(names, root, folder, lines):
    """Violations of one row of ORDER."""
    graph = includes_of(root, [name for name in names if under(name, [folder])])
    place = {module: line_of(lines, module[len(folder) + 1:])
             for module in graph}
    return [f'{module}: no line of ORDER has it'
            for module in sorted(graph) if place[module] is None] + \
           [f'{module}: {folder} has {other} above it'
            for module in sorted(graph) for other in sorted(graph[module])
            if None not in (place[module], place[other])
            and place[other] > place[module]]


def check_tree(root):
    """All violations in the tree at `root`."""
    root = pathlib.Path(root)
    names = sources(root)
    return [line for name in names for line in check_file(root, name)] + \
           [line for folder, most in CYCLES.items()
            for line in check_cycles(names, root, folder, most)] + \
           [line for folder, lines in ORDER.items()
            for line in check_order(names, root, folder, lines)]
