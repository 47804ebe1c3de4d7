"""Pages of which programs write the tables.

What stands between `<!-- NAME -->` and `<!-- end -->` is replaced; the rest of
a page is written by hand and stays.
"""
import re
import sys


def table(head, body):
    """Markdown of a table; the first row is its head."""
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    out += ["| " + " | ".join(str(cell) for cell in row) + " |"
            for row in body]
    return "\n".join(out)


def fill(path, rows, tables):
    """Replace the tables of a page; each has one place."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    for name, make in tables.items():
        pattern = rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)"
        text = make(rows)
        page, count = re.subn(pattern,
                              lambda found, text=text:
                              found[1] + text + "\n" + found[2],
                              page, flags=re.S)
        if count != 1:
            sys.exit(f"{path} has {count} places for table {name}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
