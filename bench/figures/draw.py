"""Pictures by gnuplot."""
import os
import subprocess

COMMON = """
set encoding utf8
set border 3 lc rgb '#404040'
set tics nomirror out textcolor rgb '#202020'
set grid ytics lc rgb '#d0d0d0' lw 1
set key outside top center horizontal samplen 2
"""


def block(name, rows):
    """A named data block of gnuplot."""
    lines = (" ".join(str(value) for value in row) for row in rows)
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def draw(folder, name, width, height, script):
    """One picture in both formats."""
    for kind, terminal in (
            ("svg", f"svg size {width},{height} font 'DejaVu Sans,13' "
                    "background '#ffffff'"),
            ("png", f"pngcairo size {width},{height} font 'DejaVu Sans,11'")):
        path = os.path.join(folder, f"{name}.{kind}")
        text = (f"set terminal {terminal}\nset output '{path}'\n" + COMMON +
                script)
        subprocess.run(["gnuplot"], input=text, text=True, check=True)


def draw_all(figures, rows, folder):
    """Pictures of what was measured: names, sizes, and who makes the text."""
    for name, width, height, figure in figures:
        draw(folder, name, width, height, figure(rows))
