#!/usr/bin/env python3
"""A Python framework on this machine's GPU, bare and preloaded.

    frameworks.py NAME PRELOAD           both print the same; preloaded, NumPy
                                         works in place on device arrays
    frameworks.py --timed NAME PRELOAD   steps of each, as lines of JSON
    frameworks.py --run NAME MODE        one run; MODE: same, touch or timed

Ends with 77 where the framework, or what it compiles with, is not installed.
"""
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '../python'))    # adsm

ROUNDS = 3
COUNT = 1 << 20
ABSENT = 77
TWICE = r'''extern "C" __global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i]; }'''


class ByDlpack:
    """An array that offers itself in this way alone."""

    def __init__(self, x):
        self.__dlpack__, self.__dlpack_device__ = (x.__dlpack__,
                                                   x.__dlpack_device__)


def absent(why):
    print(why)
    sys.exit(ABSENT)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}: {got}, not {wanted}')


def touch_in_place(what, x, read_back):
    """The array holds its indices; the CPU reads, changes and saves it."""
    import adsm
    import numpy as np
    import tempfile
    there = adsm.array(x)
    if hasattr(x, '__dlpack__'):
        expect(f'{what} by DLPack', adsm.array(ByDlpack(x)).ctypes.data,
               there.ctypes.data)
    expect(f'{what} read', there[:3].tolist() + [float(there[-1])],
           [0.0, 1.0, 2.0, COUNT - 1.0])
    there[7] = 100
    expect(f'{what} written', read_back(7), 100.0)
    with tempfile.TemporaryFile() as file:
        os.write(file.fileno(), memoryview(there).cast('B')[:4096])
        file.seek(0)
        saved = np.frombuffer(file.read(), dtype=np.float32)
    expect(f'{what} saved', saved[[6, 7]].tolist(), [6.0, 100.0])
    np.sqrt(there, out=there)
    expect(f'{what} in place', read_back(7), 10.0)


def torch_model(torch, inside):
    layers = [torch.nn.Linear(inside, 2 * inside), torch.nn.GELU(),
              torch.nn.Linear(2 * inside, inside)]
    return torch.nn.Sequential(*layers).cuda()


def torch_step(model, optimizer, x):
    optimizer.zero_grad()
    loss = (model(x) - x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


def torch_same(torch):
    torch.manual_seed(5)
    torch.use_deterministic_algorithms(True)
    model = torch_model(torch, 256)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.rand(1024, 256).cuda()
    for _ in range(10):
        loss = torch_step(model, optimizer, x)
    print('training', loss.item())
    values = torch.rand(1 << 18)
    print('sorted', bool((values.cuda().sort()[0].cpu()
                          == values.sort()[0]).all()))
    print('transformed', f'{torch.fft.rfft(values.cuda()).abs().sum():.5e}')
    counter = torch.zeros(64, device='cuda')
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        counter.add_(1)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        counter.add_(2)
    for _ in range(4):
        graph.replay()
    print('graph', counter[9].item())


def torch_touch(torch):
    x = torch.arange(COUNT, device='cuda', dtype=torch.float32)
    touch_in_place('torch', x, lambda at: x[at].item())


def per_step_us(torch, count, step):
    for _ in range(count // 10 + 1):
        step()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / count * 1e6


def torch_timed(torch):
    torch.manual_seed(5)
    a = torch.zeros(1024, device='cuda')
    small = torch_model(torch, 512)
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0,
                                             batch_first=True)
    large = torch.nn.TransformerEncoder(layer, 6).cuda().bfloat16()
    x = torch.rand(4096, 512).cuda()
    y = torch.rand(16, 512, 1024).cuda().bfloat16()
    of_small = torch.optim.SGD(small.parameters(), lr=1e-2)
    of_large = torch.optim.AdamW(large.parameters(), lr=1e-4, foreach=True)
    print('torch/add', per_step_us(torch, 20000, lambda: a.add_(1)))
    print('torch/small', per_step_us(
        torch, 300, lambda: torch_step(small, of_small, x)))
    print('torch/transformer', per_step_us(
        torch, 20, lambda: torch_step(large, of_large, y)))


def cupy_same(cp):
    x = cp.arange(COUNT, dtype=cp.float32)
    cp.RawKernel(TWICE, 'twice')((COUNT // 256,), (256,), (x, COUNT))
    print('kernel', float(x[21]), float(x.sum()))
    a = cp.eye(200) * 3 + 1
    print('solved', f'{float(cp.linalg.solve(a, cp.ones(200)).sum()):.6f}')
    print('sorted', bool((cp.sort(x[::-1]) == x).all()))


def cupy_touch(cp):
    x = cp.arange(COUNT, dtype=cp.float32)
    touch_in_place('cupy', x, lambda at: float(x[at]))


def jax_same(jax):
    a = jax.numpy.linspace(0, 1, 512 * 512).reshape(512, 512)
    print('compiled', f'{float(jax.jit(lambda m: (m @ m).sum())(a)):.5g}')
    grad = jax.grad(lambda m: jax.numpy.sin(m @ a).mean())
    print('gradient', f'{float(grad(a).sum()):.5g}')


def numba_same(cuda):
    import numpy as np

    @cuda.jit
    def add(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += x[i]

    x = cuda.to_device(np.arange(COUNT, dtype=np.float32))
    y = cuda.to_device(np.ones(COUNT, dtype=np.float32))
    add[COUNT // 256, 256](x, y)
    print('added', y.copy_to_host()[[0, 1, -1]].tolist())


def numba_touch(cuda):
    import numpy as np
    x = cuda.to_device(np.arange(COUNT, dtype=np.float32))
    touch_in_place('numba', x, lambda at: float(x.copy_to_host()[at]))


def numba_import():
    import numpy as np
    if not hasattr(np, 'row_stack'):    # numba of NumPy 1 on NumPy 2
        np.row_stack = np.vstack
    from numba import cuda
    try:
        cuda.cudadrv.nvvm.NVVM()
    except Exception as error:    # each version has its own
        absent(f'Numba has no NVVM here: {type(error).__name__}')
    return cuda


def pycuda_same(driver):
    import numpy as np
    from pycuda import compiler, gpuarray
    code = driver.module_from_buffer(compiler.compile(TWICE, target='ptx'))
    x = gpuarray.to_gpu(np.arange(COUNT, dtype=np.float32))
    code.get_function('twice')(x, np.int32(COUNT), grid=(COUNT // 256, 1),
                               block=(256, 1, 1))
    print('kernel', float(x[21].get()), float(x.get().sum()))


def pycuda_touch(_driver):
    import numpy as np
    from pycuda import gpuarray
    x = gpuarray.to_gpu(np.arange(COUNT, dtype=np.float32))
    touch_in_place('pycuda', x, lambda at: float(x[at].get()))


def pycuda_import():
    if not shutil.which('nvcc'):
        absent('PyCUDA has no nvcc')
    importlib.import_module('pycuda.autoprimaryctx')
    return importlib.import_module('pycuda.driver')


# JAX's arrays come from memory that is not shared: no touch.
MODES = {
    'torch': {'same': torch_same, 'touch': torch_touch, 'timed': torch_timed},
    'cupy': {'same': cupy_same, 'touch': cupy_touch},
    'jax': {'same': jax_same},
    'numba': {'same': numba_same, 'touch': numba_touch},
    'pycuda': {'same': pycuda_same, 'touch': pycuda_touch},
}
IMPORTS = {'numba': numba_import, 'pycuda': pycuda_import}


def run(name, mode):
    MODES[name][mode](IMPORTS[name]() if name in IMPORTS
                      else importlib.import_module(name))


def child(name, mode, preload=''):
    env = {**os.environ, 'CUBLAS_WORKSPACE_CONFIG': ':4096:8'}
    if preload:
        env['LD_PRELOAD'] = preload
    done = subprocess.run([sys.executable, __file__, '--run', name, mode],
                          env=env, text=True, stdout=subprocess.PIPE,
                          check=False)
    if done.returncode == ABSENT:
        absent(done.stdout.strip())
    if done.returncode:
        sys.exit(f'{name}, {mode}, {"preloaded" if preload else "bare"}: '
                 f'status {done.returncode}')
    return done.stdout


def compare(name, preload):
    bare, got = child(name, 'same'), child(name, 'same', preload)
    print(bare, end='')
    if got != bare:
        sys.exit(f'preloaded it prints\n{got}{name}: differs from the bare run')
    if 'touch' in MODES[name]:
        child(name, 'touch', preload)
        print('NumPy works in place')


def timed(name, preload):
    """Bare and preloaded in turn, so that both meet the same machine."""
    took = {}
    for _ in range(ROUNDS):
        for library in ('', preload):
            for line in child(name, 'timed', library).splitlines():
                case, us = line.split()
                took.setdefault(case, {}).setdefault(
                    bool(library), []).append(float(us))
    for case, both in took.items():
        floor = statistics.median(both[False])
        for preloaded, values in both.items():
            middle = statistics.median(values)
            print(json.dumps({
                'bench': 'frameworks',
                'case': case + (', preloaded' if preloaded else ', bare'),
                'unit': 'us', 'reps': ROUNDS, 'median': round(middle, 2),
                'min': round(min(values), 2), 'max': round(max(values), 2),
                'ratio': round(middle / floor, 3), 'against': case + ', bare'}))


def main():
    words = sys.argv[1:]
    if len(words) == 3 and words[0] == '--run':
        run(words[1], words[2])
        return
    want_time = words[:1] == ['--timed']
    if len(words) != 2 + want_time or words[-2] not in MODES:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    if importlib.util.find_spec(words[-2]) is None:
        absent(f'{words[-2]} is not installed for {sys.executable}')
    (timed if want_time else compare)(words[-2], words[-1])


if __name__ == '__main__':
    main()
