#!/usr/bin/env python3
"""First inputs of the fuzz targets, made of what the tree has.

seeds.py SOURCE-ROOT OUTPUT-FOLDER

Writes, below OUTPUT-FOLDER:
  ptx/      the PTX texts of the tree that are not long
  fatbin/   nvcc's fat binaries, in each way that fuzz_fatbin.c takes one, and
            the same texts not compressed
  ptx.dict  the words of PTX, from the lists that the parser is made of
"""
import pathlib
import re
import struct
import sys

LONGEST = 40000
SAMPLES = 'tools/softcuda/tests/driver/samples'
LISTS = ['opcodes', 'modifiers', 'types', 'specials']
DIRECTIVES = """version target address_size visible extern weak entry func
param reg shared local global const align maxntid reqntid branchtargets
calltargets callprototype texref samplerref surfref alias pragma ptr attribute
loc file section managed noreturn""".split()


def container(texts):
    """A fat binary of PTX entries that are not packed."""
    entries = b''
    for sm, text in texts:
        text += bytes(-len(text) % 8)
        entries += struct.pack('<HHIQIIIIQQQQ', 1, 0x101, 64, len(text), 0, 0,
                               0, sm, 0, 0, 0, 0) + text
    return struct.pack('<IHHQ', 0xba55ed50, 1, 16, len(entries)) + entries


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def texts(root):
    """Short PTX of the tree, by file name."""
    found = {}
    for path in sorted(root.glob('**/*.ptx')):
        inside = path.relative_to(root)
        if not inside.parts[0].startswith(('build', '.')) and \
                path.stat().st_size <= LONGEST:
            found[path.stem] = path.read_bytes()
    return found


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    ptx = texts(root)
    for name, text in ptx.items():
        write(out / 'ptx' / name, text)
    images = {p.stem: p.read_bytes()
              for p in sorted((root / SAMPLES).glob('*.fatbin'))}
    short = sorted(ptx.values(), key=len)[:3]
    images['built'] = container([(60, short[0]), (75, short[1])])
    images['text'] = short[0]
    for name, image in images.items():
        for way in range(2):
            write(out / 'fatbin' / f'{name}-{way}', bytes([way]) + image + b'\0')
    parts = b''.join(container([(60, text)]) for text in short)
    write(out / 'fatbin' / 'parts', b'\2' + parts + images['balance'])
    words = ['.' + word for word in DIRECTIVES]
    for name in LISTS:
        lines = (root / f'ptx/{name}.def').read_text('utf-8')
        for word in re.findall(r'^X\(\w+, "([^"]+)"\)', lines, re.M):
            words.append('.' + word if name == 'modifiers' else word)
        if name == 'types':
            words += ['.' + w for w in re.findall(r'^X\((\w+)', lines, re.M)]
    write(out / 'ptx.dict', ''.join(f'"{w}"\n' for w in words).encode())


if __name__ == '__main__':
    main()
