"""Draw docs/figures_ranges.json with gnuplot.

    ranges_plots.py FIGURES.json FOLDER    writes FOLDER/ranges-NAME.svg, .png
"""
import sys

from draw import block, draw_all
from ranges_rows import Cases, word

PAINT = ["#2166ac", "#b2182b", "#1b7837", "#fdae61"]


def clusters(title, ylabel, head, data):
    """Bars beside each other for each row of data, and a line at 1."""
    plot = ", \\\n".join(
        f"$data using {i + 2}{':xtic(1)' if i == 0 else ''} "
        f"title '{name}' lc rgb '{PAINT[i]}'" for i, name in enumerate(head))
    return block("data", data) + f"""
set title "{title}"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.95 border lc rgb '#ffffff'
set ylabel "{ylabel}"
set yrange [0:*]
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2
plot {plot}
"""


def strides(cases):
    """Fig. 4: rows of a box beside one row."""
    data = [[word(row, 1), row["ratio"]] for row in cases.of("boxes", "rows")]
    return block("data", data) + """
set title "Boxes of rows, up and down, beside as many bytes in one row"
set xlabel "bytes of a row"
set ylabel "time over that of one row"
set logscale x 2
set yrange [0:*]
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2
plot $data using 1:2 with linespoints lw 2 pt 7 lc rgb '#2166ac' notitle
"""


def oversize(cases):
    """Figs. 10(e) and (h)."""
    rows = [row for row in cases.of("oversize")
            if row["case"].count("/") == 1]
    names = list(dict.fromkeys(word(row, 0) for row in rows))
    blocks, plots = "", []
    for i, name in enumerate(names):
        blocks += block(f"data{i}", [[word(row, 1), row["ratio"]]
                                     for row in rows if word(row, 0) == name])
        plots.append(f"$data{i} using 1:2 with linespoints lw 2 pt {5 + 2 * i} "
                     f"lc rgb '{PAINT[i]}' title '{name}'")
    return blocks + """
set title "Data larger than a device's memory"
set xlabel "data over the memory"
set ylabel "time over that on a device that holds all"
set logscale x 2
set yrange [0:*]
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2
plot """ + ", \\\n".join(plots) + "\n"


def by_hand(cases):
    """Fig. 10(f)."""
    rows = [row for row in cases.of("by_hand")
            if row["case"].count("/") == 1]
    names = list(dict.fromkeys(word(row, 0) for row in rows))
    counts = list(dict.fromkeys(word(row, 1) for row in rows))
    data = [[name] + [1 / row["ratio"] for row in rows
                      if word(row, 0) == name] for name in names]
    return clusters("Programs on adsm.h beside the same by hand",
                    "time by hand / time on adsm.h",
                    [f"devices: {count}" for count in counts], data)


def chunks(cases):
    """Figs. 7 and 8: NevMap by the number of chunks."""
    blocks, plots = "", []
    for i, (kind, title) in enumerate((("fetch", "as they are made"),
                                       ("after", "when all has run"))):
        rows = [row for row in cases.of("pipeline", "nevmap", end=kind)
                if word(row, 1).isdigit()]
        blocks += block(f"data{i}", [
            [word(row, 1), row["median"], row["median"] / row["ratio"]]
            for row in rows])
        plots += [f"$data{i} using 1:2 with points pt {5 + 2 * i} ps 1.3 "
                  f"lc rgb '{PAINT[i]}' title 'results {title}'",
                  f"$data{i} using 1:3 with lines lw 2 lc rgb '{PAINT[i]}' "
                  "title 'T(n)'"]
    return blocks + """
set title "NevMap in chunks: measured, and the model"
set xlabel "chunks"
set ylabel "time (ms)"
set logscale x 2
set yrange [0:*]
plot """ + ", \\\n".join(plots) + "\n"


def stream(cases):
    """Fig. 10: what chunks gain for one picture."""
    sizes = list(dict.fromkeys(word(row, 1) for row in cases.of("stream")))
    kinds = ["call", "after", "stream"]
    data = [[size] + [cases.one("stream", f"{kind}/{size}")["ratio"]
                      for kind in kinds] for size in sizes]
    return clusters("Pictures that become grey", "gain",
                    ["chunks, a picture", "chunks without fetch",
                     "threads and chunks, a stream"], data)


def containers(cases):
    """Fig. 7 of smart containers."""
    rows = [row for row in cases.of("containers", "fig7") if "ratio" in row and
            not row["case"].endswith("moved")]
    rules = list(dict.fromkeys(" ".join(row["case"].split("/")[2:])
                               for row in rows))[:len(PAINT)]
    names = list(dict.fromkeys(word(row, 1) for row in rows))
    found = {(word(row, 1), " ".join(row["case"].split("/")[2:])):
             row["ratio"] for row in rows}
    data = [[name] + [found.get((name, rule), 1) for rule in rules]
            for name in names]
    return clusters("Two devices on slow links",
                    f"time over {rows[0]['against']}", rules, data)


FIGURES = [("ranges-rows", 760, 440, strides),
           ("ranges-memory", 760, 440, oversize),
           ("ranges-by-hand", 860, 440, by_hand),
           ("ranges-chunks", 760, 480, chunks),
           ("ranges-stream", 1000, 460, stream),
           ("ranges-containers", 960, 460, containers)]


if __name__ == "__main__":
    draw_all(FIGURES, Cases(sys.argv[1]), sys.argv[2])
