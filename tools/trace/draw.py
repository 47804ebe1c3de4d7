"""Pictures, by gnuplot."""
import shutil
import subprocess

COMMON = """
set encoding utf8
set border 3 lc rgb '#404040'
set tics nomirror out textcolor rgb '#202020'
set key outside top center horizontal samplen 2
"""


class Failed(Exception):
    """There is no picture; says why."""


def block(name, rows):
    """A named data block of gnuplot."""
    lines = '\n'.join(' '.join(map(str, row)) for row in rows)
    return f'${name} << EOD\n{lines}\nEOD\n'


def quoted(text):
    """Of others, as a text of gnuplot's."""
    return "'" + text.replace("'", "''").replace('\n', ' ') + "'"


def need():
    """There is a gnuplot, or else nothing is worth reading."""
    if shutil.which('gnuplot') is None:
        raise Failed('pictures need gnuplot, which is not installed (Debian: '
                     'gnuplot-nox)')


def picture(path, width, height, script):
    """Draw a PNG of so many pixels. The file is written when it is whole."""
    whole = f"set terminal pngcairo size {width},{height} noenhanced " \
            f"font 'DejaVu Sans,10'\n{COMMON}{script}"
    try:
        run = subprocess.run(['gnuplot'], input=whole.encode(), check=False,
                             capture_output=True)
    except OSError as error:
        raise Failed(f'gnuplot does not run: {error.strerror}') from None
    if run.returncode or not run.stdout.startswith(b'\x89PNG'):
        said = run.stderr.decode(errors='replace').strip().splitlines()
        raise Failed('gnuplot draws nothing: '
                     + (said[-1].strip() if said else 'it does not say why'))
    try:
        with open(path, 'wb') as file:
            file.write(run.stdout)
    except OSError as error:
        raise Failed(f'cannot write {path}: {error.strerror}') from None
