"""Draw figures 7 to 12 from docs/figures.json with gnuplot.

    plots.py FIGURES.json FOLDER     writes FOLDER/figNN.svg and .png
"""
import sys

from draw import block, draw_all
from rows import Rows, SEVEN, moved, size

PROTOCOLS = ["batch", "lazy", "rolling"]
COLOURS = {"batch": "#b2182b", "lazy": "#f4a582", "rolling": "#2166ac",
           "naive": "#7f7f7f", "explicit": "#4d4d4d"}


def figure_7(rows):
    """Slow-down of each protocol, and of copying everything by hand."""
    link = rows.head["link"]
    data = [[bench] + [rows.slowdown(bench, case, link, "used_min")
                       for case in ("naive/bare", "ported/batch",
                                    "ported/lazy", "ported/rolling")]
            for bench in SEVEN]
    paint = [COLOURS[key] for key in ("naive", *PROTOCOLS)]
    names = ["all copies by hand", *PROTOCOLS]
    plot = ", \\\n".join(
        f"$data using {i + 2}{':xtic(1)' if i == 0 else ''} "
        f"title '{names[i]}' lc rgb '{paint[i]}'" for i in range(4))
    top = 1.3 * max(max(line[1:]) for line in data)
    return block("data", data) + f"""
set title "Fig. 7: slow-down against explicit copies (link {link})"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.95 border lc rgb '#ffffff'
set ylabel "processor time / explicit program's"
set logscale y
set yrange [0.5:{top}]
set ytics (0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50)
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2
plot {plot}
"""


def figure_8(rows):
    """Bytes against batch, each direction a panel."""
    data = []
    for bench in SEVEN:
        batch = moved(rows.one("7", bench=bench, case="ported/batch",
                               link=rows.head["link"]))
        line = [bench]
        for case in "explicit/bare", "ported/lazy", "ported/rolling":
            bytes_moved = moved(rows.one("7", bench=bench, case=case,
                                         link=rows.head["link"]))
            line += [max(bytes_moved[k] / batch[k], 1e-4) for k in (0, 1)]
        data.append(line)
    paint = [COLOURS[key] for key in ("explicit", "lazy", "rolling")]
    names = ["explicit", "lazy", "rolling"]
    panels = ""
    for k, title in enumerate(["host to device", "device to host"]):
        plot = ", \\\n".join(
            f"$data using {2 * i + 2 + k}{':xtic(1)' if i == 0 else ''} "
            f"title '{names[i]}' lc rgb '{paint[i]}'" for i in range(3))
        panels += (f"set title '{title}'\n"
                   + ("set ylabel ''\n" if k else "") + f"plot {plot}\n")
    return block("data", data) + """
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.95 border lc rgb '#ffffff'
set ylabel "bytes moved / bytes moved by batch"
set logscale y
set yrange [1e-4:2]
set format y "10^{%T}"
set xtics rotate by -35
set key below
set multiplot layout 1,2 title "Fig. 8: bytes moved, batch = 1"
""" + panels + "unset multiplot\n"


def figure_9(rows):
    """The stencil: time over volume."""
    edges = rows.values("9", "edge")
    cases = [case for case in rows.values("9", "case")]
    names = {"explicit/bare": "explicit", "ported/lazy": "lazy"}
    data = [[edge] + [rows.one("9", edge=edge, case=case)["used_min"]
                      for case in cases] for edge in edges]
    points = [4, 6, 7, 5, 9, 11]
    plot = ", \\\n".join(
        f"$data using 1:{i + 2} with linespoints lw 2 ps 1.2 "
        f"pt {points[i % 6]} title "
        f"'{names.get(case, 'rolling ' + case.split('/')[-1])}'"
        for i, case in enumerate(cases))
    tics = ", ".join(f"'{edge}³' {edge}" for edge in edges)
    bottom = min(min(line[1:]) for line in data) / 1.3
    top = max(max(line[1:]) for line in data) * 1.3
    return block("data", data) + f"""
set title "Fig. 9: 3D stencil, 40 steps, volume to disk every 10"
set xlabel "cells of the volume"
set ylabel "processor time of program and device (s)"
set logscale y
set yrange [{bottom}:{top}]
set ytics (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50)
set xtics ({tics})
set xrange [{edges[0] - 8}:{edges[-1] + 8}]
plot {plot}
"""


def figure_10(rows):
    """Where the time goes under rolling."""
    parts = ["cpu", "gpu", "copy", "io", "signal", "setup"]
    paint = ["#2166ac", "#67a9cf", "#b2182b", "#fdae61", "#000000", "#bdbdbd"]
    data = []
    for bench in SEVEN:
        row = rows.one("7", bench=bench, case="ported/rolling",
                       link=rows.head["link"])
        total = sum(row[part + "_s"] for part in parts)
        data.append([bench] + [100 * row[part + "_s"] / total
                               for part in parts])
    titles = ["CPU", "GPU", "copy", "I/O", "signal", "setup"]
    plot = ", \\\n".join(
        f"$data using {i + 2}{':xtic(1)' if i == 0 else ''} "
        f"title '{titles[i]}' lc rgb '{paint[i]}'" for i in range(6))
    return block("data", data) + f"""
set title "Fig. 10: break-down of the execution time, ported programs, rolling"
set style data histograms
set style histogram rowstacked
set style fill solid 0.95 border lc rgb '#ffffff'
set boxwidth 0.7
set ylabel "share of the execution time (%)"
set yrange [0:100]
plot {plot}
"""


def figure_11(rows):
    """Vector addition: time and bandwidth over block size."""
    data = []
    for row in rows.find("11"):
        word = row["case"].split("/")
        if len(word) == 3:
            up, down = moved(row)
            data.append([size(word[2]), word[2], row["min"],
                         up / max(row["up_s"], 1e-9) / 1e9,
                         down / max(row["down_s"], 1e-9) / 1e9,
                         row["used_min"]])
    link = rows.head["link"]
    explicit = rows.one("11", case="explicit/bare")["min"]
    lazy = rows.one("11", case="ported/lazy")["min"]
    tics = ", ".join(f"'{row[1]}' {row[0]}" for row in data)
    return block("data", data) + f"""
set title "Fig. 11: sum of two vectors of 8M elements (link {link})"
set xlabel "block size (bytes)"
set ylabel "time (s)"
set y2label "bandwidth of copies to the host (GB/s)"
set y2tics nomirror out
set logscale x 2
set xtics ({tics})
set yrange [0:*]
set y2range [0:*]
set style fill solid 0.35 noborder
plot $data using 1:5:($1*0.5) axes x1y2 with boxes lc rgb '#fdae61' \\
    title 'bandwidth, device to host', \\
  $data using 1:3 with linespoints lw 2 pt 7 lc rgb '#2166ac' \\
    title 'rolling, elapsed', \\
  $data using 1:6 with linespoints lw 2 pt 6 lc rgb '#1b7837' \\
    title 'rolling, processor time', \\
  {explicit} with lines lw 2 dt 2 lc rgb 'black' title 'explicit, elapsed', \\
  {lazy} with lines lw 2 dt 4 lc rgb '#b2182b' title 'lazy, elapsed'
"""


def figure_12(rows):
    """tpacf: what the CPU spends on its passes, over block size."""
    sizes, table = [], {}
    for row in rows.find("12"):
        word = row["case"].split("/")
        if len(word) == 4:
            table.setdefault(word[2], {})[word[3]] = row
            if word[2] not in sizes:
                sizes.append(word[2])
    order = ["1", "2", "4", "0"]
    data = [[size(text)] + [table[text][key]["host_s"] for key in order] +
            [table[text][key]["used_min"] for key in order] for text in sizes]
    tics = ", ".join(f"'{text}' {size(text)}" for text in sizes)
    names = ["1", "2", "4", "adaptive"]
    paint = ["#b2182b", "#f4a582", "#67a9cf", "#2166ac"]
    panels = ""
    for k, title in enumerate(["reading and preparing the sets",
                               "whole program, processor time"]):
        plot = ", \\\n".join(
            f"$data using 1:{2 + i + 4 * k} with linespoints lw 2 pt "
            f"{[4, 6, 8, 7][i]} lc rgb '{paint[i]}' title '{names[i]}'"
            for i in range(4))
        panels += f"set title '{title}'\nplot {plot}\n"
    return block("data", data) + f"""
set xlabel "block size (bytes)"
set ylabel "time (s)"
set logscale x 2
set xtics ({tics}) rotate by -35
set yrange [0:*]
set key below
set multiplot layout 1,2 title "Fig. 12: tpacf by block size and rolling size"
""" + panels + "unset multiplot\n"


FIGURES = [("fig07", 960, 480, figure_7), ("fig08", 960, 460, figure_8),
           ("fig09", 760, 500, figure_9), ("fig10", 860, 480, figure_10),
           ("fig11", 960, 500, figure_11), ("fig12", 1000, 460, figure_12)]


if __name__ == "__main__":
    draw_all(FIGURES, Rows(sys.argv[1]), sys.argv[2])
