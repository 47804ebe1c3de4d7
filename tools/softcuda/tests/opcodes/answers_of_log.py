#!/usr/bin/env python3
"""Lines of answers.txt from what the opcode suite printed on hardware.

usage: answers_of_log.py SUITE.txt... < head > answers.txt

The suite prints the first lane of a case that differs from the reference and
what the machine got there, and the assembler's log of a case it refused. The
head, comments that say which machine it was, is passed on.
"""

import re
import sys

VALUE = re.compile(r"^(.*)  \((.*), lane \d+\)$")
RESULT = re.compile(r"^   (( \w=\S+)*): got (\S+), want \S+$")
REFUSED = re.compile(r"^(.*): load failed: \d (.*)$")
SENTENCE = re.compile(r"error   : (.*'\w[\w.]*'(?: for instruction '\w+')?)")

# A set of f16 or bf16 whose 16 bits the assembler takes for 32.
LOST_EXTENSION = re.compile(r"set\.\S*(f16\.f16|bf16\.bf16) %h1.*cvt\.u32\.u16")


def result(line):
    inputs, _, got = RESULT.match(line).groups()
    numbers = [f"{int(i.split('=')[1], 16):x}" for i in inputs.split()]
    return ",".join(numbers) + f"={int(got, 16):x}"


def kind(name):
    """Register kind of a type: opcase.h. Eight bits live in 32 here."""
    bits = {"8": "W", "16": "H", "x2": "W", "32": "W", "64": "D"}
    return next(bits[end] for end in bits if name.endswith(end))


def signature(text):
    """Registers of a refused statement, of any class of inputs."""
    words = text.split(" ")[0].split(".")
    types = [w for w in words[1:] if re.fullmatch(r"(t?f|bf|[sub])\d+(x2)?", w)]
    opcode, first, last = words[0], kind(types[0]), kind(types[-1])
    pair = last if opcode in ("setp", "set", "cvt") else first
    third = {"selp": "Pq", "slct": "Wi", "setp": "Pq", "set": "Pq"}
    sources = [f"{pair}i", f"{pair}i", third.get(opcode, f"{pair}i"), f"{pair}i"]
    used = max("abce".index(name) for name in re.findall("%([abce])", text))
    d = "P" if opcode == "setp" else first
    return f"{d} " + "".join(sources[: used + 1])


def refusals(text, log):
    """The statements of a case that sentences of the log name."""
    for sentence in dict.fromkeys(SENTENCE.findall(log)):
        opcode = sentence.split("'")[-2]
        for statement in text.split("; "):
            if statement.startswith(opcode + "."):
                yield statement, sentence
                break


def lines(log):
    rows = iter(log)
    pending = next(rows, None)
    while pending is not None:
        row, pending = pending, next(rows, None)
        value, refused = VALUE.match(row), REFUSED.match(row)
        if value:
            text, variant = value.groups()
            if variant != "all lanes":
                yield f"miscompiled\t-\t{text}\toff\t{result(pending)}"
            elif LOST_EXTENSION.search(text):
                yield f"miscompiled\t-\t{text}\ton\t{result(pending)}"
            else:
                yield f"answer\t-\t{text}\t{result(pending)}"
        elif refused:
            text, said = refused.groups()
            while pending is not None and pending.startswith("ptxas"):
                said, pending = said + "\n" + pending, next(rows, None)
            for statement, sentence in refusals(text, said):
                yield f"refused\t{signature(statement)}\t{statement}\t{sentence}"


def main():
    sys.stdout.write(sys.stdin.read())
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as log:
            for line in dict.fromkeys(lines(log.read().splitlines())):
                print(line)


main()
