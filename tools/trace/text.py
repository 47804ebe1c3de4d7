"""Numbers and tables for people."""


def size(count):
    """Bytes: 256 KiB, 1.5 MiB."""
    for unit in ('B', 'KiB', 'MiB', 'GiB'):
        if count < 1024 or unit == 'GiB':
            break
        count /= 1024
    text = f'{count:.1f}'.removesuffix('.0')
    return f'{text} {unit}'


def time(seconds):
    """12.3 ms"""
    for unit, factor in (('s', 1), ('ms', 1e3), ('us', 1e6)):
        if seconds * factor >= 1 or unit == 'us':
            return f'{seconds * factor:.3g} {unit}' \
                if seconds * factor < 1000 else f'{seconds * factor:.0f} {unit}'
    return ''


def table(head, rows):
    """Lines of columns; all but the first and those of text stand right."""
    rows = [[str(cell) for cell in row] for row in rows]
    columns = list(zip(head, *rows))
    widths = [max(len(cell) for cell in column) for column in columns]
    left = [i == 0 or head[i].startswith('~') for i in range(len(head))]
    lines = []
    for row in [[name.lstrip('~') for name in head]] + rows:
        cells = (cell.ljust(width) if first else cell.rjust(width)
                 for cell, width, first in zip(row, widths, left))
        lines.append(('  ' + '  '.join(cells)).rstrip())
    return '\n'.join(lines)
