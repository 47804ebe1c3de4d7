"""In which order items run: what only has to pass in lanes beside each other,
what tells most first; then what is timed, each alone."""
import collections
import threading
import time

from item import try_item

# Of the whole time, what timed items can claim.
TIMED_SHARE = 0.5


class Lanes:
    def __init__(self, report, running, env, lanes, seconds):
        self.report, self.running, self.env = report, running, env
        self.lanes = lanes
        self.end = time.monotonic() + seconds
        self.length = seconds
        self.lock = threading.Lock()

    def left(self):
        return max(0.0, self.end - time.monotonic())

    def one(self, item, reserved=0.0):
        """Run an item now, whatever else runs."""
        try_item(item, self.env, self.report.path('logs'), self.running,
                 self.left() - reserved)
        if not self.running.over:
            self.report.add(item)

    def all(self, items):
        timed = [item for item in items if item.alone]
        reserved = min(sum(item.seconds for item in timed
                           if item.rank == 0) * 1.3,
                       self.length * TIMED_SHARE)
        self.beside([item for item in items if not item.alone], reserved)
        for item in sorted(timed, key=lambda item: item.rank):
            if not self.running.over:
                self.one(item)

    def beside(self, items, reserved):
        # The longest of a rank first, so that no lane is left with it.
        waiting = collections.deque(sorted(
            items, key=lambda item: (item.rank, -item.seconds)))

        def lane():
            while not self.running.over:
                with self.lock:
                    if not waiting:
                        return
                    item = waiting.popleft()
                self.one(item, reserved)

        threads = [threading.Thread(target=lane) for _ in range(self.lanes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
