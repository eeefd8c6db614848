"""What the generators of constants share: write the files, or with --check fail if a committed one differs."""
import pathlib
import sys

SRC = pathlib.Path(__file__).resolve().parent.parent / "src"


def write_or_check(script, texts):
    """texts: {path below src/: contents}.  Returns the exit code."""
    bad = 0
    for name, text in texts.items():
        path = SRC / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.name} is not what tools/{script} writes: run it")
            bad = 1
    return bad
