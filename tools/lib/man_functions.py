#!/usr/bin/env python3
"""Make adsm.3 of the public headers: what is said of each function there.

man_functions.py VERSION HEADER... PAGE    write PAGE
man_functions.py --names HEADER...         print what the page is also called

A header is comments that begin in the first column, each with the declarations
that follow it. `@name  text` in a comment is of an argument; `Return:` and what
follows is a paragraph. What is for C++ alone or ends in _ is left out.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r'^/\*(\*?)(.*?)\*/\n', re.M | re.S)
DECLARED = re.compile(
    r'^(?:ADSM_API [^;]*?|static inline [^;{]*?|#define )\b(adsm\w+)\(', re.M)
PRIVATE = re.compile(r'#define \w+_\(')
TYPE = re.compile(r'^(?:typedef [^;{]*?\b(adsm\w+)(?:\([^;]*\))?;|\} (adsm\w+);'
                  r'|typedef enum \{[^}]*\} (adsm\w+);)', re.M)
WORD = re.compile(r'\b(adsm[A-Z]\w*|ADSM_[A-Z]\w*)\b')


def for_c(text):
    """The header without what is for C++ alone."""
    kept, skipping = [], []
    for line in text.splitlines(keepends=True):
        if re.match(r'#if', line):
            skipping.append(line.startswith('#ifdef __cplusplus'))
        elif line.startswith('#endif'):
            skipping.pop()
        elif not any(skipping):
            kept.append(line)
    return ''.join(kept)


def parts_of(text):
    """Each comment with the code behind it, and whether it is of that."""
    found = [match for match in COMMENT.finditer(text)
             if not PRIVATE.match(text, match.end())]
    for match, following in zip(found, [*found[1:], None]):
        code = text[match.end():following.start() if following else len(text)]
        yield match[2], code.strip('\n'), bool(match[1])


def names_in(code):
    """The functions that code declares, in its order."""
    return [name for name in dict.fromkeys(DECLARED.findall(code))
            if not name.endswith('_')]


def types_in(code):
    return [next(filter(None, groups)) for groups in TYPE.findall(code)]


def heads_in(code):
    """How the functions are declared, without bodies."""
    for match in DECLARED.finditer(code):
        if match[1].endswith('_'):
            continue
        end = code.index(')', match.end())
        while code.count('(', match.start(), end + 1) > \
                code.count(')', match.start(), end + 1):
            end = code.index(')', end + 1)
        head = code[match.start():end + 1]
        if head.startswith('#define '):
            yield head.removeprefix('#define ')
        else:
            yield re.sub(r'^(ADSM_API|static inline) ', '', head) + ';'


def roff(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    text = WORD.sub(r'\\fB\1\\fR', text)
    text = re.sub(r'`([^`]*)`', r'\\fI\1\\fR', text)
    return re.sub(r"^([.'])", r'\\&\1', text, flags=re.M)


def verbatim(code):
    lines = code.expandtabs().replace('\\', '\\e').replace('-', '\\-')
    return '.nf\n' + re.sub(r"^([.'])", r'\\&\1', lines, flags=re.M) + '\n.fi\n'


def prose(comment):
    """A comment as paragraphs, with one for each argument."""
    lines = [re.sub(r'^ \*? ?', '', line).rstrip()
             for line in comment.strip('\n').splitlines()]
    lines[0] = lines[0].strip()
    paragraphs = [['.PP']]
    for line in lines:
        if not line.strip():
            paragraphs.append(['.PP'])
        elif re.match(r'@\w', line):
            paragraphs.append(['.PP', line])
        elif line.startswith('Return:'):
            paragraphs.append(['.PP', line])
        else:
            paragraphs[-1].append(line)
    for head, *text in paragraphs:
        words = ' '.join(line.strip() for line in text)
        if not words:
            continue
        words = re.sub(r'@(\w+)', r'`\1`', words)
        yield f'{head}\n{roff(words)}\n'


def section(comment, code, of_code):
    """A part of the page; '' where nothing of it is for readers."""
    names = names_in(code)
    types = types_in(code)
    if not (names or types):
        return ''
    text = ''.join(prose(comment))
    if types and not names:
        # Types are said by their declaration.
        if not of_code:
            text = ''
        return f'.SS {", ".join(types)}\n{text}.PP\n{verbatim(code)}'
    heads = verbatim('\n'.join(heads_in(code)))
    return f'.SS {", ".join(names)}\n{heads}{text}'


def page(version, headers):
    names, body = [], ''
    for header in headers:
        parts = list(parts_of(for_c(header.read_text(encoding='utf-8'))))
        body += f'.SH {header.name.upper()}\n' + ''.join(prose(parts[0][0]))
        for part in parts[1:]:
            names += names_in(part[1])
            body += section(*part)
    return (f'.TH ADSM 3 "" "libadsm {version}" "libadsm"\n.nh\n.ad l\n.SH NAME\n'
            + ', '.join(names) +
            ' \\- one pointer for CPU and accelerator\n.SH SYNOPSIS\n.nf\n'
            + ''.join(f'.B #include <{header.name}>\n' for header in headers)
            + '.fi\n.PP\n.I cc program.c\n$(pkg\\-config \\-\\-cflags '
              '\\-\\-libs libadsm)\n' + body +
            '.SH SEE ALSO\n.BR adsm\\-info (1),\n.BR adsm\\-ptx (1),\n'
            '.BR adsm\\-run (1),\n.BR libadsm (7)\n')


def main():
    words = sys.argv[1:]
    if words[0] == '--names':
        for name in words[1:]:
            text = for_c(pathlib.Path(name).read_text(encoding='utf-8'))
            for _, code, _ in parts_of(text):
                for function in names_in(code):
                    print(function)
        return
    version, *headers, output = words
    pathlib.Path(output).write_text(
        page(version, [pathlib.Path(name) for name in headers]),
        encoding='utf-8')


if __name__ == '__main__':
    main()
