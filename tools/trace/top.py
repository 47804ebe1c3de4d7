"""The objects with the most faults, bytes or waits, and where they are accessed."""
import argparse
import json

import objects
import sites
import text

ORDERS = {'faults': lambda one: one.faults,
          'bytes': lambda one: one.moved,
          'waits': lambda one: one.wait_s}


def print_text(found, names, options):
    busy = sorted(found.busy(), key=ORDERS[options.by], reverse=True)
    rows = [(one.name, text.size(one.bytes), one.read_faults, one.write_faults,
             text.size(one.up), text.size(one.down), text.time(one.fault_s),
             text.time(one.wait_s)) for one in busy[:options.count]]
    if not rows:
        print('no object has faults or moved bytes')
        return
    print(text.table(('object', 'size', 'read', 'write', 'up', 'down',
                      'in faults', 'waits'), rows))
    if len(busy) > options.count:
        print(f'  and {len(busy) - options.count} more (--count)')
    rows = [(names.name(at), count, text.time(spent), text.size(moved))
            for at, (count, spent, moved) in top_sites(found, options)]
    if rows:
        print('\n' + text.table(('accessed at', 'faults', 'in faults', 'moved'),
                                rows))


def top_sites(found, options):
    def order(item):
        _, (count, spent, moved) = item
        return {'faults': count, 'bytes': moved, 'waits': spent}[options.by]
    return sorted(found.sites.items(), key=order,
                  reverse=True)[:options.count]


def print_json(found, names, options):
    busy = sorted(found.busy(), key=ORDERS[options.by], reverse=True)
    print(json.dumps({
        'objects': [{'object': hex(one.address), 'number': one.number,
                     'bytes': one.bytes, 'block': one.block,
                     'read_faults': one.read_faults,
                     'write_faults': one.write_faults, 'up': one.up,
                     'down': one.down, 'device': one.device,
                     'fault_s': round(one.fault_s, 9),
                     'wait_s': round(one.wait_s, 9),
                     'sites': [{'at': names.name(at), 'faults': count}
                               for at, count in one.sites.most_common(5)]}
                    for one in busy[:options.count]],
        'sites': [{'at': names.name(at), 'faults': count, 'fault_s':
                   round(spent, 9), 'bytes': moved}
                  for at, (count, spent, moved) in top_sites(found, options)]}))


def positive(word):
    if not word.isascii() or not word.isdigit() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"'{word}' is no number from 1 on")
    return int(word)


def add_options(parser):
    parser.add_argument('--by', choices=sorted(ORDERS), default='faults',
                        help='what those first have most of: bytes, faults '
                        '(default) or waits')
    parser.add_argument('--count', type=positive, default=10, metavar='N',
                        help='how many (default 10)')
    parser.add_argument('--json', action='store_true',
                        help='one JSON object instead of tables')


def run(trace, options):
    found = objects.Objects()
    for event in trace:
        found.add(event)
    names = sites.Sites(trace)
    (print_json if options.json else print_text)(found, names, options)
