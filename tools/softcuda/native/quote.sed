# Turns text into C string literals, one a line: sed -f quote.sed in.ptx
s/\\/\\\\/g
s/"/\\"/g
s/^/"/
s/$/\\n"/
