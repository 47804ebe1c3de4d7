"""Instructions by name: module and offset, and with binutils the source line."""
import os
import shutil
import subprocess


class Sites:
    """Names of addresses of a trace."""

    def __init__(self, trace):
        self._modules = trace.modules
        self._addr2line = shutil.which('addr2line')
        self._known = {}

    def _module(self, at):
        for path, base, begin, end in self._modules:
            if begin <= at < end:
                return path, at - base
        return None

    def _line(self, path, offset):
        if not self._addr2line or not os.path.isfile(path):
            return ''
        run = subprocess.run([self._addr2line, '-f', '-C', '-s', '-e', path,
                              hex(offset)], capture_output=True, text=True,
                             errors='replace', check=False)
        lines = run.stdout.splitlines()
        if run.returncode or len(lines) < 2 or lines[0] == '??':
            return ''
        place = lines[1].split(' ')[0]
        return f' {lines[0]}' + ('' if place.startswith('?') else f' {place}')

    def name(self, at):
        """program+0x1234 function file.c:12"""
        if at not in self._known:
            found = self._module(at)
            self._known[at] = hex(at) if found is None else \
                f'{os.path.basename(found[0])}+{found[1]:#x}' + \
                self._line(*found)
        return self._known[at]
