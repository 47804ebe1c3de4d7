#!/usr/bin/env python3
"""Write the linker's export list of one version of libcudart.

Arguments: entries.def, the version (11.0, 12, 13), the file to write.  Every
entry point of that version is exported under the version node that compiled
programs ask for; all else stays inside.
"""
import re
import sys

source, version, target = sys.argv[1:]
major = int(version.split('.')[0])
names = []
with open(source) as lines:
    for line in lines:
        entry = re.match(r'SC_RT_(?:ENTRY|REFUSED)\((\w+), (\d+), (\d+)\)',
                         line)
        if entry and int(entry[2]) <= major <= int(entry[3]):
            names.append(entry[1])
with open(target, 'w') as out:
    out.write('libcudart.so.%s {\nglobal:\n' % version)
    out.writelines('    %s;\n' % name for name in sorted(names))
    out.write('local:\n    *;\n};\n')
