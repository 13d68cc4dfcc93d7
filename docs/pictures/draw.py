"""Draw the pictures of the documentation into ``docs/pictures/svg``, light and dark.

``python docs/pictures/draw.py`` draws all of them, with names only those. With ``--check``
nothing is written, and the exit status is 1 if a file would change; other versions of
matplotlib or other processors may round differently.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import catalogue

from fastmmd.experiments._style import save

FOLDER = Path(__file__).parent / "svg"
MODULES = (
    "alternatives",
    "answer",
    "bins",
    "calibrated",
    "circle",
    "compared",
    "drift",
    "frequencies",
    "kernels",
    "methods",
    "nulls",
    "results",
    "sketches",
    "tables",
    "tutorials",
)


def main() -> int:
    """Draw, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="pictures; by default all")
    parser.add_argument("--check", action="store_true", help="only compare")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    options = parser.parse_args()
    for module in MODULES:
        import_module(module)
    known = catalogue.names()
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(known)}")
    changed = []
    for name in options.names or known:
        with tempfile.TemporaryDirectory() as folder:
            made, digests = catalogue.make(name)
            for file in save(made, Path(folder)):
                if file.suffix != ".svg":
                    continue
                # Matplotlib ends lines with spaces, which checks of style would find.
                lines = file.read_text("utf-8").splitlines()
                # A test finds pictures of measurements that have been made anew.
                lines += [f"<!-- {path} {digest} -->" for path, digest in digests.items()]
                text = "\n".join(line.rstrip() for line in lines) + "\n"
                place = options.out / file.name
                if place.exists() and place.read_text("utf-8") == text:
                    continue
                changed.append(file.name)
                if not options.check:
                    options.out.mkdir(parents=True, exist_ok=True)
                    place.write_text(text, "utf-8")
    verb = "would change" if options.check else "drew"
    sys.stderr.write(f"{verb}: {', '.join(changed) or 'nothing'}\n")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
