"""What gpu-check tries, as lists of items. `rank` 0 is what tells most; the rest
follows as time allows. `seconds` are those of an H200, 2026-11-26."""
import os
import re

from item import Item
import machine

WAYS = ('window', 'overlay', 'translate')
BENCHMARKS = ('cp', 'mri-fhd', 'mri-q', 'pns', 'rpes', 'sad', 'tpacf',
              'vecadd', 'stencil')
# Patterns of bench_access, which measures each in eight forms.
ACCESS = ('stream', 'fresh', 'residual', 'sources', 'halo', 'file',
          'sparse-read', 'index')
# Numbers that take their size gpu down to what the software device can do.
SOFT_NUMBERS = {
    'cp': 'nx=128,ny=96,planes=3,atoms=200',
    'mri-fhd': 'voxels=5000,samples=600',
    'mri-q': 'voxels=5000,samples=600',
    'pns': 'runs=256,steps=60',
    'rpes': 'shells=8',
    'sad': 'width=176,height=144,range=5',
    'tpacf': 'points=300,random_sets=4',
    'vecadd': 'elements=2097153',
}
FRAMEWORKS = ('torch', 'cupy', 'jax', 'numba', 'pycuda')
# What of a group of tests is rank 0.
TELLING = {
    'core': r'(api|threads|twin)-rolling|accel/.*',
    'interpose': r'.*(copies|io|signals|hosts|written-.*|touched-.*'
                 r'|memory-.*|bulk-.*)',
    'opcodes': r'.*',
}
TELLING_PROGRAMS = ('vecadd', 'reduce_shared', 'streams', 'managed',
                    'graph_captured', 'copy2d')
# Suites of Check run as one process where they can: each case by itself makes a
# context, which takes 0.3 s and more. Those of accel count from a fresh one.
TOGETHER = ('core', 'regress', 'opcodes')


class Place:
    """Where things lie, and what kind of a run this is."""

    def __init__(self, root, build, out, device, soft, quick):
        self.root, self.build, self.out = root, build, out
        self.device, self.soft, self.quick = device, soft, quick
        self.here = os.path.join(root, 'tools/gpu-check')

    def tool(self, name):
        return os.path.join(self.build, name)

    def fill(self, word):
        return (word.replace('@root@', self.root)
                .replace('@build@', self.build)
                .replace('@device@', self.device))


def read_tests(place, path):
    """The lines of pack.py --tests."""
    tests = []
    with open(path) as lines:
        for line in lines:
            name, group, limit, words = line.rstrip('\n').split('\t')
            tests.append((name, group, float(limit),
                          place.fill(words).split()))
    return tests


def test_item(step, test, env=None, also=''):
    name, group, limit, words = test
    telling = re.fullmatch(TELLING.get(group, r'.*'), name)
    together = group in TOGETHER and not name.startswith('accel/')
    own = {}
    while re.match(r'\w+=', words[0]):
        variable, value = words[0].split('=', 1)
        own[variable], words = value, words[1:]
    return Item(step, name + also, words, limit, env={**(env or {}), **own},
                rank=0 if telling else 1, together=together,
                seconds=3 if telling else 5)


def answers(place):
    """What the driver says. Each alone, and before anything else."""
    info = place.tool('tools/adsm-info')
    yield Item('addresses', 'address probe',
               [place.tool('tools/gpu-check/gpu-probe'), '--table'], 240,
               seconds=8, quote=True)
    yield Item('addresses', 'adsm-info',
               [info, '--devices', '--driver', '--engines'], 60, quote=True)
    for way in WAYS:
        yield Item('addresses', f'adsm-info, {way}', [info, '--devices'], 60,
                   env={'ADSM_ADDRESS': way}, quote=True)


def cannot_be_had(item):
    """Why the way that adsm-info was asked for cannot be had, or ''."""
    with open(item.log, errors='replace') as text:
        lines = [line for line in text if 'cannot be had' in line]
    return ' '.join(lines[0].split()) if lines else ''


def addresses(place, tests, told):
    """The core suites with what the driver does, and each way to share."""
    for test in tests:
        if test[1] == 'core' and test[0].startswith('accel/'):
            yield test_item('addresses', test)
    for way in WAYS:
        reason = cannot_be_had(told[f'adsm-info, {way}'])
        if reason:
            yield Item('addresses', f'core suites, {way}', [], 0,
                       why_not=lambda reason=reason: reason)
            continue
        for test in tests:
            if test[1] in ('core', 'regress') and '/' not in test[0]:
                item = test_item('addresses', test, {'ADSM_ADDRESS': way},
                                 f', {way}')
                item.rank += test[1] == 'regress'
                yield item


def preload(place, tests):
    """The suites of the preload library, and programs of this nvcc with its
    run-time library linked shared and static."""
    for test in tests:
        if test[1] == 'interpose':
            yield test_item('preload', test)
    if not machine.nvcc():
        yield Item('preload', 'programs of nvcc', [], 0,
                   why_not=lambda: 'no nvcc here')
        return
    for kind in ('shared', 'static'):
        if place.soft and kind == 'static':
            yield Item('preload', 'programs of nvcc, static', [], 0,
                       why_not=lambda: "NVIDIA's run-time library does not "
                       'accept the software device')
            continue
        for line in programs(place):
            yield program_item(place, kind, line)


def programs(place):
    with open(os.path.join(place.root, 'tests/cuda/programs')) as lines:
        for line in lines:
            if line.strip() and not line.startswith(('#', 'machine_code')):
                yield line.split()


def program_item(place, kind, words):
    name, options = words[0], words[1:]
    named = dict(option.split('=', 1) for option in options
                 if re.match(r'(sources|ptx|suite)=', option))
    flags = [option for option in options
             if not re.match(r'(sources|ptx|suite|env)=', option)]
    env = dict(option[4:].split('=', 1) for option in options
               if option.startswith('env='))
    ptx = named.get('ptx', '75' if 'ptx' not in named else '')
    if kind == 'shared' and not place.soft:
        env['beside'] = (f'{place.tool("tools/softcuda")}:'
                         f'{place.out}/lib')
    if ptx:
        flags += ['-gencode', f'arch=compute_{ptx},code=compute_{ptx}']
    sources = named.get('sources', name + '.cu').split(',')
    command = ['sh', f'{place.here}/program.sh',
               f'{place.out}/programs/{name}.{kind}',
               place.tool('interpose/libadsm-preload.so'),
               machine.nvcc(), '-cudart', kind,
               '-Wno-deprecated-gpu-targets', *flags,
               *(f'{place.root}/tests/cuda/{source}' for source in sources)]
    return Item('preload', f'{name}, {kind}', command, 300, env=env,
                rank=0 if name in TELLING_PROGRAMS else 1,
                seconds=4)


def kernels(place, tests):
    """PTX cases against references in C, and what this machine answers, to
    hold the software device to it; whole programs beside that, bit for bit."""
    opcodes = [test for test in tests if test[1] == 'opcodes']
    for test in opcodes:
        item = test_item('kernels', test)
        item.env['OPCODES_ANSWERS'] = f'{place.out}/answers/{test[0]}'
        yield item
    if not opcodes:
        yield Item('kernels', 'PTX cases', [], 0,
                   why_not=lambda: 'built without them: meson configure '
                   'build -Dsoftcuda:tests=enabled')
    size = 'small' if place.quick else 'medium'
    for name in BENCHMARKS:
        yield Item('kernels', f'{name}, beside the software device',
                   ['sh', f'{place.here}/beside.sh', name, size], 200,
                   seconds=2)


def frameworks(place):
    """Python frameworks of this machine, bare and preloaded, and NumPy on
    their arrays."""
    for name in FRAMEWORKS:
        yield Item('frameworks', name, [
            'python3', f'{place.here}/frameworks.py', name,
            place.tool('interpose/libadsm-preload.so')], 120, seconds=20,
            why_not=(lambda: 'suite python tries those that accept the '
                     'software device') if place.soft else None)


def bench_item(name, limit, seconds, command, rank=0, env=None):
    return Item('speed', name, command, limit, alone=True, rank=rank,
                seconds=seconds, env=env or {})


def speed(place):
    """Medians and spread, each beside its floor or peer in the same run."""
    real = [] if place.soft else ['--real']
    reps = '1' if place.quick else '5'
    yield bench_item('the wave program', 600, 5, [
        place.tool('bench/wave/adsm-wave'), '--json', *real, '--reps', reps,
        '--volume', f'{place.root}/bench/wave/data/salt.vol',
        '--png', f'{place.out}/wave.png'])
    yield from parboil(place, 'small', reps, 0)
    for name in ('micro/bench_fault', 'micro/bench_write',
                 'softcuda/bench_launch', 'micro/bench_choice'):
        yield micro(place, name, reps)
    yield from access(place, 'bench_access', 0)
    # What a launch costs more when preloaded.
    launch = micro(place, 'softcuda/bench_launch', reps)
    launch.name += ', preloaded'
    launch.env = {}  # once is enough of what PRELOAD is for
    launch.command = [place.tool('tools/adsm-run'), '--', *launch.command]
    yield launch
    if not place.soft:
        yield bench_item('torch, timed', 120, 40, [
            'python3', f'{place.here}/frameworks.py', '--timed', 'torch',
            place.tool('interpose/libadsm-preload.so')])
    if not place.quick:
        yield from parboil(place, 'medium', '3', 1)
    # NVIDIA's run-time library does not accept the software device.
    if not place.soft and os.access(
            place.tool('bench/access/bench_access_static'), os.X_OK):
        yield from access(place, 'bench_access_static', 1)


def access(place, program, rank):
    """One item for each pattern, so that whoever stops the check has some."""
    size = [] if place.quick or place.soft else ['--large']
    for pattern in ACCESS:
        item = micro(place, f'access/{program}', '1' if place.quick else '3')
        item.name = f'{pattern}, {program}'
        item.command += [*size, f'--pattern={pattern}']
        item.rank, item.seconds = rank, 5 if place.quick else 15
        yield item


def seven(place):
    """The paper's benchmarks where the device has work for seconds, over the
    better of two programs with copies by hand; results are compared with each
    other. Some half a minute a round."""
    if place.quick:
        yield from parboil(place, 'gpu' if place.soft else 'large', '1', 0,
                           ('explicit,overlapped,ported', 'rolling'), 'seven')
    else:
        yield from parboil(place, 'gpu', '3', 1, (
            'explicit,overlapped,managed,managed-hints,ported',
            'rolling,lazy,async'), 'seven')


# About how long an item takes, in rounds of all forms.
PARBOIL_SECONDS = {'small': 5, 'medium': 40, 'large': 10, 'gpu': 90}
PARBOIL_FORMS = ('explicit,overlapped,managed,managed-hints,ported,adsm',
                 'lazy,rolling')


def parboil(place, size, reps, rank, forms=PARBOIL_FORMS, step='speed'):
    """One item each, so that whoever stops the check has some of them."""
    for name in BENCHMARKS[:-1]:
        own = [] if place.soft else ['--real']
        if place.soft and size == 'gpu':
            own = ['--number', SOFT_NUMBERS[name]]
        item = bench_item(f'{name}, {size}', 900, PARBOIL_SECONDS[size], [
            place.tool('bench/parboil/adsm-bench'), '--json', '--quiet',
            '--no-verify', '--size', size, '--reps', reps, '--form', forms[0],
            '--protocol', forms[1], *own, name], rank)
        item.step = step
        if place.soft:
            item.seconds = 5
        yield item


def micro(place, name, reps):
    words = ['--quick'] if place.quick else []
    return bench_item(os.path.basename(name), 300, 8, [
        place.tool(f'bench/{name}'), *words, f'--reps={reps}'],
        env={'PRELOAD': place.tool('interpose/libadsm-preload.so')})
