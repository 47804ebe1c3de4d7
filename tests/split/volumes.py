"""What the programs of bench/ranges move, beside a table of what they may.

volumes.py [--write] TABLE PROGRAM...

Each program runs its small input on 1, 2 and 4 devices, in as many parts, and
says how many bytes went up, down, within devices and between them, and how much
memory copies got. A number that has grown fails; --write makes the table anew,
for a change that is meant to move more, or moves less.
"""
import pathlib
import sys

from counted import count

COUNTERS = ['bytes_up', 'bytes_down', 'bytes_local', 'bytes_peer',
            'store_bytes', 'copies_made']


def read(table):
    """Rows of the table, by program and devices."""
    rows = {}
    for line in pathlib.Path(table).read_text().splitlines():
        if line and not line.startswith('#'):
            name, devices, *numbers = line.split()
            rows[name, int(devices)] = [int(number) for number in numbers]
    return rows


def write(table, rows):
    lines = ['# Bytes and copies of one run with the small input, in as many '
             'parts as devices;', '# made by tests/split/volumes.py --write.',
             '#%-7s %7s' % ('program', 'devices')
             + ''.join(' %12s' % counter for counter in COUNTERS)]
    lines += ['%-8s %7d' % key + ''.join(' %12d' % n for n in numbers)
              for key, numbers in rows.items()]
    pathlib.Path(table).write_text('\n'.join(lines) + '\n')


def main():
    words = sys.argv[1:]
    renew = words[:1] == ['--write']
    table, *names = words[renew:]
    found = {(name, devices): count(COUNTERS, name, devices)
             for name in names for devices in (1, 2, 4)}
    if renew:
        write(table, found)
        return 0
    failed = 0
    allowed = read(table)
    for key, numbers in found.items():
        if key not in allowed:
            print('%s on %d devices is not in the table' % key)
            failed += 1
            continue
        for counter, now, most in zip(COUNTERS, numbers, allowed[key]):
            if now > most:
                print('%s on %d devices: ' % key
                      + '%s is %d, was %d' % (counter, now, most))
                failed += 1
            elif now < most:
                print('%s on %d devices: ' % key
                      + '%s is %d, less than %d: renew the table'
                      % (counter, now, most))
    print('%d runs, %d numbers grew' % (len(found), failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
