"""Programs of bench/ranges with more data than their devices have memory.

beyond.py PROGRAM...

Each runs on 1 and on 2 devices of MEMORY with an input whose arrays are more
than that of both together, verifies every byte of its result with the CPU's,
and must have given up copies for others. Not here are nbody, sph and lu: what
all parts read, which is half of their data, has to fit.
"""
import sys
import tempfile

from counted import counters, make

MEMORY = '4M'
INPUTS = {
    'heat': 'nx=1500 ny=1100 steps=3',
    'mandel': 'nx=1100 ny=900 calls=2 steps=4',
    'mse': 'nx=1501 ny=1103',
    'ppmcc': 'nx=1501 ny=1103',
    'heat3d': 'nx=100 ny=120 nz=140 steps=3',
    'blackscholes': 'options=600000',
    'matmul': 'rows=8000 inner=101 columns=251',
    'mvt': 'nx=1700 ny=2000 turns=2',
    'adi': 'n=1000 steps=2',
    'fdtd': 'nx=1100 ny=900 steps=3',
    'floyd': 'n=1500 steps=4',
}


def main():
    runs = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:]:
            if name not in INPUTS:
                continue
            path = make(folder, name, INPUTS[name])
            for devices in (1, 2):
                found = counters(name, devices, '--input', path, '--verify',
                                 SOFTCUDA_MEMORY=MEMORY)
                evicted = int(found['copies_evicted']) if found else 0
                runs += 1
                failed += not evicted
                print('%s on %d of %s:' % (name, devices, MEMORY),
                      '%d copies given up' % evicted if found else 'failed')
    print('%d runs, %d failed or had room enough' % (runs, failed))
    return 1 if failed or not runs else 0


if __name__ == '__main__':
    sys.exit(main())
