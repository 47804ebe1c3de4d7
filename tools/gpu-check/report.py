"""What gpu-check says: a line as each item ends, a JSON line, a page, and all
of it in one archive, made anew after each item, so that whoever stops the
check has what was done by then."""
import json
import os
import re
import tarfile
import threading
import time

COLUMNS = ('bench', 'case', 'unit', 'median', 'min', 'max', 'ratio', 'against')
# What a step cost, where a bench says it.
STEP_COLUMNS = ('steps', 'faults', 'up', 'down', 'bytes_up', 'bytes_down',
                'calls')
# Of whole programs: what their work takes and what comes before and behind it.
MARK_COLUMNS = ('before_s', 'work_s', 'after_s', 'work_ratio', 'work_against',
                'whole_s', 'whole_ratio', 'whole_against')
KEPT_BYTES = 4 << 20


def lines_of(log):
    if not os.path.exists(log):
        return []
    with open(log, errors='replace') as text:
        return text.read().splitlines()


def json_lines(log):
    """The figures that a bench printed."""
    found = []
    for line in lines_of(log):
        if line.startswith('{'):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    return found


def cell(value):
    return re.sub(r'[|\n]', '/', str(value))


def blank(value):
    return '' if value is None else value


def row(values):
    return '| ' + ' | '.join(cell(value) for value in values) + ' |\n'


def table(heads, rows):
    return ('\n' + row(heads) + '|' + '---|' * len(heads) + '\n' +
            ''.join(row(values) for values in rows))


class Report:
    def __init__(self, out, words, env):
        self.out, self.words, self.env = out, words, env
        self.began = time.time()
        self.lock = threading.Lock()
        self.device = 'unknown device'
        self.notes = []         # lines about the run as a whole; of an item,
        self.facts = []         # what it said behind "note: "
        self.items = []
        for folder in ('logs', 'answers'):
            os.makedirs(os.path.join(out, folder), exist_ok=True)
        with open(self.path('results.jsonl'), 'w'):
            pass

    def path(self, name):
        return os.path.join(self.out, name)

    def seconds(self):
        return time.time() - self.began

    def say(self, text):
        print(text, flush=True)

    def write_json(self, values):
        with open(self.path('results.jsonl'), 'a') as lines:
            lines.write(json.dumps(values) + '\n')

    def fact(self, name, value):
        self.facts.append((name, value))
        self.say(f'  {name:<22} {value}')
        self.write_json({'step': 'facts', 'fact': name, 'value': value})

    def add(self, item):
        """An item has ended."""
        with self.lock:
            self.items.append(item)
            self.say(f'  {item.outcome:<8} {item.step}: {item.name} '
                     f'({item.took:.1f} s)' +
                     (f': {item.detail}' if item.detail else ''))
            self.write_json({
                'step': item.step, 'item': item.name, 'outcome': item.outcome,
                'seconds': round(item.took, 1), 'detail': item.detail,
                'repeat': item.repeat(self.env)})
            for figures in json_lines(item.log):
                self.write_json(figures)
            for line in lines_of(item.log):
                if line.startswith('note: ') and line[6:] not in self.notes:
                    self.notes.append(line[6:])
            self.save()

    def count(self, *outcomes):
        return sum(item.outcome in outcomes for item in self.items)

    def sums(self):
        return (f'{self.count("passed")} passed, '
                f'{sum(item.failed() for item in self.items)} failed, '
                f'{self.count("skipped")} skipped')

    def save(self):
        """The page and the archive; each takes its place in one step."""
        with open(self.path('hardware.md.new'), 'w') as page:
            page.write(self.page())
        os.rename(self.path('hardware.md.new'), self.path('hardware.md'))
        archive = self.out + '.tar.gz'
        with tarfile.open(archive + '.new', 'w:gz', compresslevel=1) as tar:
            for name in ('hardware.md', 'results.jsonl', 'answers', 'logs'):
                tar.add(self.path(name), os.path.join(
                    os.path.basename(self.out), name),
                    filter=lambda info: info
                    if info.size <= KEPT_BYTES else None)
        os.rename(archive + '.new', archive)

    def page(self):
        parts = [
            f'## {self.device}, {time.strftime("%Y-%m-%d")}\n\n'
            f'`{self.words}`: {self.sums()} in {self.seconds():.0f} s\n']
        parts += [f'\n{note}\n' for note in self.notes]
        if self.facts:
            parts.append('\n### facts\n' + table(('what', 'here'), self.facts))
        for step in dict.fromkeys(item.step for item in self.items):
            parts.append(self.page_step(step))
        failed = [item for item in self.items if item.failed()]
        if failed:
            parts.append('\n### What failed\n')
        parts += [self.page_failure(item) for item in failed]
        return ''.join(parts)

    def page_step(self, step):
        items = [item for item in self.items if item.step == step]
        parts = [f'\n### {step}\n', table(('item', 'outcome', 's', ''), [
            (item.name, item.outcome, f'{item.took:.1f}', item.detail)
            for item in items])]
        for item in items:
            figures = [figure for figure in json_lines(item.log)
                       if 'median' in figure]
            if figures:
                columns = COLUMNS + tuple(
                    column for column in STEP_COLUMNS + MARK_COLUMNS
                    if any(column in figure for figure in figures))
                parts.append(table(columns, [
                    [blank(figure.get(column)) for column in columns]
                    for figure in figures]))
            elif item.quote:
                parts.append(f'\n```text\n{self.end_of(item, 1000)}```\n')
        return ''.join(parts)

    def page_failure(self, item):
        return (f'\n**{item.step}, {item.name}: {item.outcome}.** The end of '
                f'what it said:\n\n```text\n{self.end_of(item, 12)}```\n\n'
                'To repeat it, here:\n\n'
                f'```sh\n{item.repeat(self.env)}\n```\n')

    @staticmethod
    def end_of(item, count):
        return ''.join(line[:300] + '\n' for line in
                       lines_of(item.log)[-count:])
