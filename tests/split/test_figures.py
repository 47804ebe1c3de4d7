"""The pages of figures are what their measured cases say."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "bench" / "figures"


class Pages(unittest.TestCase):
    def page_is_current(self, script, name):
        docs = ROOT / "docs"
        before = (docs / f"{name}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "page.md"
            copy.write_text(before, encoding="utf-8")
            subprocess.run([sys.executable, SCRIPTS / script,
                            docs / f"{name}.json", copy], check=True,
                           timeout=60,
                           env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual(copy.read_text(encoding="utf-8"), before)

    def test_figures_of_the_first_paper(self):
        self.page_is_current("tables.py", "figures")

    def test_figures_of_several_devices(self):
        self.page_is_current("ranges_tables.py", "figures_ranges")

    def test_every_picture_of_a_page_is_there(self):
        for name in ("figures", "figures_ranges"):
            text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
            pictures = re.findall(r"^!\[.*\]\((.+)\)$", text, re.M)
            self.assertGreater(len(pictures), 5)
            for picture in pictures:
                self.assertTrue((ROOT / "docs" / picture).is_file(), picture)


if __name__ == "__main__":
    unittest.main()
