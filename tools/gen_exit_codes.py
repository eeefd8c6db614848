#!/usr/bin/env python3
"""Writes docs/exit-codes.md from include/cuzk/status.def; with --check it compares instead and says what differs.

    tools/gen_exit_codes.py [--check]
"""
import os
import re
import sys

ROW = re.compile(r'^X\((\w+),\s*(\d+),\s*(\w+),\s*(\d+),\s*(\d+),\s*"([^"]*)"\)', re.MULTILINE)
RETRY = {
    "NEVER": "no: the request itself is at fault",
    "LATER": "later: resources are short now",
    "ELSEWHERE": "elsewhere: this device or process is at fault",
    "BUG": "no: please report it",
}
HEAD = """# Exit codes

What the command line returns, and what every function of the library returns as a status. Made from `include/cuzk/status.def` by
`tools/gen_exit_codes.py`; the values are stable.

"""


NOTES = """
As the command line means them: 2, something about the words of the command, so that nothing was begun; 3, an input that cannot be used, or a kind of input that
is not supported; 4, a file, folder or job that is not there, or could not be read or written; 6, a device that this machine or this build has not, or that
was lost, and a `cuzkd` that does not answer under its address. Ctrl-C, SIGTERM and SIGHUP end work with 8; one that comes half a second later, or after that, ends the process by the signal, as the first
does for commands that are done in a moment. No half-written file stays in either case.
"""


def page(table):
    rows = [(name, int(value), retry, int(code), int(grpc), text) for name, value, retry, code, grpc, text in ROW.findall(table)]
    out = HEAD + "| exit code | meanings |\n|---|---|\n"
    for code in sorted({row[3] for row in rows}):
        out += "| %d | %s |\n" % (code, "; ".join(row[5] for row in rows if row[3] == code))
    out += NOTES + "\n| status | value | text | exit code | gRPC code | does trying again help? |\n|---|---|---|---|---|---|\n"
    for name, value, retry, code, grpc, text in rows:
        again = "-" if name == "OK" else RETRY[retry]
        out += "| `CUZK_%s` | %d | %s | %d | %d | %s |\n" % (name, value, text, code, grpc, again)
    return out


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with open(os.path.join(top, "include/cuzk/status.def"), encoding="utf-8") as f:
        wanted = page(f.read())
    path = os.path.join(top, "docs/exit-codes.md")
    if "--check" in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            if f.read() == wanted:
                return 0
        print("docs/exit-codes.md is not what tools/gen_exit_codes.py writes; run it")
        return 1
    with open(path, "w", encoding="utf-8") as f:
        f.write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
