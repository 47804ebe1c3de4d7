"""What programs of bench/ranges move, and the memory they take, beside what
their formulas say.

flow.py PROGRAM...

Each program that has a formula here runs on 1 to 4 devices in as many parts,
and must send to its devices, from them and between them exactly as many bytes
as the data it computes with makes necessary, and take memory for what it needs
and no more than ROUNDING of that besides. Inputs are the small ones, but for
the numbers in INPUTS. A formula gives bytes up, down, between devices, and of
memory.
"""
import struct
import sys
import tempfile

from counted import count, make

COUNTERS = ['bytes_up', 'bytes_down', 'bytes_peer', 'store_bytes']
ROUNDING = 0.05
HEADER_NUMBERS = 16  # where they begin
FLOAT = 4
# The CPU touches the plate before the first step only.
INPUTS = {'heat': 'every=1000000'}


def floyd(parts, n, _seed):
    """Row k, in step k, to all who do not have it; at first from the host. How
    many rows of past steps are kept is not said here."""
    row, others = FLOAT * n, parts - 1
    return [n * row + others * row, n * row, (n - 1) * others * row, None]


def shares(parts, count):
    """Of equal parts."""
    ends = [int(count * i / parts + 0.5) for i in range(parts + 1)]
    return [end - begin for begin, end in zip(ends, ends[1:])]


def stencil(parts, cells, face, steps):
    """Both sides of each boundary, in each step; at first from the host."""
    halo = 2 * (parts - 1) * FLOAT * face
    return [FLOAT * cells + halo, FLOAT * cells, (steps - 1) * halo,
            2 * (FLOAT * cells + halo)]


def heat(parts, nx, ny, steps, _every, _seed):
    return stencil(parts, nx * ny, nx, steps)


def heat3d(parts, nx, ny, nz, steps, _seed):
    return stencil(parts, nx * ny * nz, nx * ny, steps)


def fdtd(parts, nx, ny, steps, _seed):
    """A row of ey and one of hz over each boundary, in each step. The first call
    needs ey without the row behind, so copies of it are made twice, but for the
    last part's."""
    field, boundaries = FLOAT * nx * ny, FLOAT * nx * (parts - 1)
    twice = FLOAT * nx * (ny - shares(parts, ny)[-1])
    return [3 * field + boundaries, 3 * field, (2 * steps - 1) * boundaries,
            3 * field + 2 * boundaries + twice]


def elsewhere(parts, nx, ny):
    """Elements of a part's columns that are not in its rows, of all parts."""
    return nx * ny - sum(rows * columns for rows, columns
                         in zip(shares(parts, ny), shares(parts, nx)))


def mvt(parts, nx, ny, _turns, _seed):
    """The matrix by rows, then by columns; a vector of each kind is whole."""
    up = nx * ny + elsewhere(parts, nx, ny) + (1 + parts) * (nx + ny)
    return [FLOAT * up, FLOAT * (nx + ny), 0,
            FLOAT * ((1 if parts == 1 else 2) * nx * ny
                     + (1 + parts) * (nx + ny))]


def adi(parts, n, steps, _seed):
    """Two arrays from rows to columns or back, in each call but the first; the
    third in rows and in columns."""
    away = elsewhere(parts, n, n)
    return [FLOAT * (3 * n * n + away), FLOAT * n * n,
            2 * FLOAT * away * (2 * steps - 1),
            (3 if parts == 1 else 6) * FLOAT * n * n]


FORMULAS = {formula.__name__: formula for formula in (
    floyd,
    heat,
    heat3d,
    fdtd,
    mvt,
    adi,
)}


def numbers(name, path):
    """Those of an input."""
    content = path.read_bytes()[HEADER_NUMBERS:]
    known = FORMULAS[name].__code__.co_argcount - 1
    return struct.unpack_from('<%dI' % known, content)


def memory(found, need):
    """The need, where what was found is that and what rounding adds."""
    fits = need is None or need <= found <= need * (1 + ROUNDING)
    return need if fits else found


def main():
    failed = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:]:
            if name not in FORMULAS:
                continue
            path = make(folder, name, INPUTS.get(name, ''))
            values = numbers(name, path)
            for devices in range(1, 5):
                runs += 1
                want = FORMULAS[name](devices, *values)
                found = count(COUNTERS, name, devices, '--input', path)
                found[-1] = memory(found[-1], want[-1])
                if found != want:
                    failed += 1
                    print('%s on %d devices:' % (name, devices),
                          ', '.join('%s %d, not %d' % (what, now, due)
                                    for what, now, due
                                    in zip(COUNTERS, found, want)
                                    if now != due))
    print('%d runs, %d as no formula says' % (runs, failed))
    return 1 if failed or not runs else 0


if __name__ == '__main__':
    sys.exit(main())
