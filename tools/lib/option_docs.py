#!/usr/bin/env python3
"""Write the option table into docs/options.md and the manual page, or check it.

option_docs.py [--check] ADSM-INFO FILE...

The table comes from `adsm-info --json --options`, that is from options.def.
It replaces what stands between the lines that hold `options: begin` and
`options: end`, as Markdown or, in files named *.1 to *.8, as man macros.
Exit status with --check: 0 all files current, 1 not (they are named).
"""
import json
import os
import re
import subprocess
import sys

BLOCK = re.compile(r'^([^\n]*options: begin[^\n]*\n)(.*?)'
                   r'^([^\n]*options: end[^\n]*)$', re.M | re.S)


def options(adsm_info):
    """The option rows with nothing set in the environment."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith('ADSM_')}
    out = subprocess.run([adsm_info, '--json', '--options'], env=env,
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)['options']


def markdown(rows):
    """A Markdown table."""
    lines = ['| variable | default | takes | meaning |', '|---|---|---|---|']
    lines += [f"| `{row['option']}` | {row['default']} | {row['takes']} | "
              f"{row['help']} |" for row in rows]
    return '\n'.join(lines) + '\n'


def manual(rows):
    """Tagged paragraphs for man."""
    lines = []
    for row in rows:
        default = row['default']
        tail = '' if default == '-' else f' (default {default})'
        lines += ['.TP', f".B {row['option']}",
                  f"{row['help'][0].upper()}{row['help'][1:]}.",
                  f"Takes {row['takes']}{tail}."]
    return '\n'.join(lines).replace('-', '\\-') + '\n'


def main():
    words = sys.argv[1:]
    check = words[0] == '--check'
    adsm_info, *files = words[1:] if check else words
    rows = options(adsm_info)
    stale = 0
    for name in files:
        with open(name, encoding='utf-8') as file:
            old = file.read()
        table = (manual if re.search(r'\.[1-8]$', name) else markdown)(rows)
        new, found = BLOCK.subn(
            lambda match, table=table: match[1] + table + match[3], old)
        if found != 1:
            sys.exit(f'{name}: found {found} option tables, want 1')
        if new == old:
            continue
        stale += 1
        if check:
            print(f'{name}: the option table is not current; run '
                  'tools/lib/option_docs.py build/tools/adsm-info '
                  'docs/options.md docs/man/libadsm.7')
        else:
            with open(name, 'w', encoding='utf-8') as file:
                file.write(new)
    sys.exit(1 if check and stale else 0)


if __name__ == '__main__':
    main()
