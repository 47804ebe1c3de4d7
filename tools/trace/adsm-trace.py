#!/usr/bin/env python3
"""Where a program's time and its bytes go, from a trace of libadsm.

A trace is made by `adsm-run --trace FILE program`, or by ADSM_TRACE=FILE.
"""
import argparse
import difflib
import os
import sys

VERSION = '@version@'
HERE = os.path.dirname(os.path.realpath(__file__))
# Beside it in the build folder; where it is installed, from there.
for folder in ('trace', os.path.join('@datadir@', 'adsm', 'trace')):
    if os.path.isfile(os.path.join(HERE, folder, 'reader.py')):
        sys.path.insert(0, os.path.join(HERE, folder))
        break
sys.dont_write_bytecode = True

import blocks  # noqa: E402
import draw  # noqa: E402
import gantt  # noqa: E402
import reader  # noqa: E402
import summary  # noqa: E402
import top  # noqa: E402

COMMANDS = {
    'summary': (summary, 'where the time of the program goes'),
    'top': (top, 'objects and instructions with the most faults, bytes or waits'),
    'blocks': (blocks, 'a heat map of the blocks of an object, as PNG'),
    'gantt': (gantt, 'threads and devices over time, as PNG')}


def parser_of():
    parser = argparse.ArgumentParser(
        prog='adsm-trace', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--version', action='version',
                        version=f'adsm-trace {VERSION}')
    commands = parser.add_subparsers(dest='command', metavar='command',
                                     required=True)
    for name, (module, text) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument('file', help='the trace')
        module.add_options(command)
    return parser


def complain(text):
    print(f'adsm-trace: {text}', file=sys.stderr)


def unknown(word):
    near = difflib.get_close_matches(word, COMMANDS, 1, 0.4)
    hint = f'; did you mean {near[0]}?' if near else ''
    complain(f"unknown command '{word}': there are {', '.join(COMMANDS)}{hint}")
    return 2


def main(words):
    if words and not words[0].startswith('-') and words[0] not in COMMANDS:
        return unknown(words[0])
    options = parser_of().parse_args(words)
    try:
        trace = reader.Trace(options.file)
        COMMANDS[options.command][0].run(trace, options)
        sys.stdout.flush()
    except reader.Unreadable as error:
        complain(f'{options.file}: {error}')
        return 2
    except (draw.Failed, blocks.NoObject) as error:
        complain(error)
        return 1
    except BrokenPipeError: # whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
