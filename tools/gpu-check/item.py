"""One thing that gpu-check tries: a command, its limit, and what came of it."""
import dataclasses
import os
import re
import shlex
import signal
import subprocess
import time

SKIPPED = 77    # as everywhere here


@dataclasses.dataclass
class Item:
    step: str
    name: str
    command: list
    limit: float                # seconds after which it counts as stuck
    env: dict = dataclasses.field(default_factory=dict)
    rank: int = 0               # 0: what tells most; others as time allows
    alone: bool = False         # its times count: nothing beside it
    seconds: float = 1          # it takes about, on hardware
    quote: bool = False         # what it says goes into the page
    together: bool = False      # a suite of Check: first as one process
    why_not: object = None      # function: why it cannot run, or ''
    outcome: str = ''
    detail: str = ''
    took: float = 0.0
    log: str = ''

    def failed(self):
        return self.outcome not in ('passed', 'skipped')

    def repeat(self, env):
        """The command that does the same, for who reads the report."""
        words = [f'{name}={env[name]}' for name in ('LD_LIBRARY_PATH',)
                 if env.get(name)]
        words += [f'{name}={value}' for name, value in self.env.items()]
        return shlex.join(['env', *words, *self.command])


class Running:
    """The commands under way, to be ended when the check is."""

    def __init__(self):
        self.processes = set()
        self.over = False

    def end(self):
        self.over = True
        for process in list(self.processes):
            kill_group(process)

    def run(self, item, env, log, limit):
        """Status of one run, -1 where it took too long, and its seconds."""
        began = time.monotonic()
        with open(log, 'wb') as out:
            process = subprocess.Popen(item.command, env=env, stdout=out,
                                       stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL,
                                       start_new_session=True)
            self.processes.add(process)
            if self.over:
                kill_group(process)
            try:
                status = process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                status = -1
            # Whatever it left behind would disturb what comes next.
            kill_group(process)
            process.wait()
            self.processes.discard(process)
        return status, time.monotonic() - began


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def last_line(log):
    with open(log, errors='replace') as text:
        lines = [line for line in text.read().splitlines() if line.strip()]
    return lines[-1][:160] if lines else ''


def settle(item, status, limit):
    """Say in the item what a status means."""
    item.detail = '' if status == 0 else last_line(item.log)
    if status == 0:
        item.outcome = 'passed'
    elif status == SKIPPED:
        item.outcome = 'skipped'
    elif status == -1 and limit < item.limit:
        item.outcome = 'skipped'
        item.detail = f'cut off after {limit:.0f} s: no more time was left'
    elif status == -1:
        item.outcome = f'over {limit:.0f} s'
    else:
        item.outcome = f'failed with status {status}'


def try_item(item, env, folder, running, left):
    """Run it for at most `left` seconds; all results are in the item."""
    safe = re.sub(r'[^A-Za-z0-9_.-]', '-', f'{item.step}-{item.name}')
    item.log = os.path.join(folder, safe)
    reason = item.why_not() if item.why_not else ''
    limit = min(item.limit, left)
    if not reason and limit < min(item.limit, 2 * item.seconds + 1):
        reason = 'no time was left for it'
    if reason:
        item.outcome, item.detail = 'skipped', reason
        return
    env = {**env, **item.env}
    if item.together:
        # One process, so one context; a case that ends it, or leaves
        # something behind, is told from the others by the run below.
        status, item.took = running.run(
            item, {**env, 'CK_FORK': 'no'}, item.log, limit)
        settle(item, status, limit)
        if not item.failed() or running.over:
            return
        before = f'as one process: {item.detail or item.outcome}'
    status, took = running.run(item, env, item.log,
                               max(1, limit - item.took))
    item.took += took
    settle(item, status, limit)
    if item.together and not item.failed():
        item.detail = before
