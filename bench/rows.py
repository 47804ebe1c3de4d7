"""What adsm-bench says under rolling, for the scripts beside this one."""
import json
import os
import subprocess
import sys


def of_rolling(build, arguments, settings):
    """Run `build`/bench/parboil/adsm-bench under rolling with these arguments and
    this environment besides. Yields its rows; ends the script at one that
    failed."""
    command = [os.path.join(build, "bench", "parboil", "adsm-bench"),
               "--json", "--quiet", "--protocol", "rolling", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, **settings), check=False)
    for row in map(json.loads, done.stdout.splitlines()):
        if "error" in row:
            sys.exit(f"{settings}: {row}")
        yield row
