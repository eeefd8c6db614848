#!/usr/bin/env python3
"""The checking scripts against small trees that break each rule: a check that finds nothing is no check."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("include/cuzk/cuzk.h", "")
        self.write("src/base/task.h", "")
        self.write("src/field/prime.h", '#include "base/task.h"\n#include "cuzk/cuzk.h"\n')
        self.write("src/curve/curve.h", '#include "field/prime.h"\n#include "curve/point.h"\n')
        self.write("src/curve/point.h", "")
        self.write("src/backend/backend.h", "")
        self.write("src/backend/cpu/cpu_msm.h", '#include "backend/backend.h"\n')
        self.write("README.md", "See `src/base/` and [the curve](src/curve/curve.h).\n")

    def write(self, path, text):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def run_check(self, script, *arguments):
        return subprocess.run([sys.executable, os.path.join(TOOLS, script), *arguments], capture_output=True, text=True,
                              check=False)

    def assert_passes(self, script):
        ran = self.run_check(script, self.folder.name)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def assert_refuses(self, script, text):
        ran = self.run_check(script, self.folder.name)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn(text, ran.stdout)

    def test_good_tree(self):
        for script in ("check_layers.py", "check_names.py", "check_docs.py"):
            self.assert_passes(script)

    def test_layers_upwards(self):
        self.write("src/base/bad.c", '\n  #  include "field/prime.h"\n')
        self.assert_refuses("check_layers.py", "src/base/bad.c:2")

    def test_layers_sideways(self):
        self.write("src/hash/bad.c", '#include "curve/curve.h"\n')
        self.assert_refuses("check_layers.py", "level 2 includes level 2")

    def test_layers_inside_of_a_backend(self):
        self.write("src/groth16/bad.c", '#include "backend/cpu/cpu_msm.h"\n')
        self.assert_refuses("check_layers.py", "only backend/backend.h")
        os.remove(os.path.join(self.folder.name, "src/groth16/bad.c"))
        self.write("src/groth16/good.c", '#include "backend/backend.h"\n')
        self.write("src/api/good_too.c", '#include "backend/cpu/cpu_msm.h"\n')
        self.assert_passes("check_layers.py")

    def test_layers_command_line_and_server(self):
        self.write("src/cli/bad.c", '#include "curve/curve.h"\n')
        self.assert_refuses("check_layers.py", "cli/ sees")
        os.remove(os.path.join(self.folder.name, "src/cli/bad.c"))
        self.write("src/server/bad.c", '#include "curve/curve.h"\n')
        self.assert_refuses("check_layers.py", "server/ sees")

    def test_layers_wire(self):
        self.write("src/wire/rpc.h", "")
        self.write("src/wire/good.c", '#include <grpc/grpc.h>\n#include "base/task.h"\n#include "cuzk/v1/proving.pb-c.h"\n')
        self.write("src/server/good.c", '#include "wire/rpc.h"\n#include "cuzk/v1/proving.pb-c.h"\n')
        self.assert_passes("check_layers.py")
        self.write("src/server/bad.c", '#include <grpc/grpc.h>\n')
        self.assert_refuses("check_layers.py", "only wire/ sees gRPC core")
        os.remove(os.path.join(self.folder.name, "src/server/bad.c"))
        self.write("src/base/bad.c", '#include "cuzk/v1/proving.pb-c.h"\n')
        self.assert_refuses("check_layers.py", "see messages")
        os.remove(os.path.join(self.folder.name, "src/base/bad.c"))
        self.write("src/wire/bad.c", '#include "curve/curve.h"\n')
        self.assert_refuses("check_layers.py", "wire/ sees base/")

    def test_layers_unknown_folder_and_file(self):
        self.write("src/utils/x.h", "")
        self.assert_refuses("check_layers.py", "src/utils: no level")
        self.write("src/curve/bad.c", '#include "gone.h"\n')
        self.assert_refuses("check_layers.py", "no such file")

    def test_names(self):
        self.write("src/curve/task.h", "")
        self.assert_refuses("check_names.py", "src/base/task.h, src/curve/task.h")

    def test_docs(self):
        self.write("docs/deep/page.md", "`src/base/gone.c` and [x](../gone.md) and `tests/<area>/x` and `src/base/task.h:12`\n")
        ran = self.run_check("check_docs.py", self.folder.name)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("src/base/gone.c", ran.stdout)
        self.assertIn("../gone.md", ran.stdout)
        self.assertIn("2 missing", ran.stdout)

    def test_symbols(self):
        source, library = (os.path.join(self.folder.name, name) for name in ("x.c", "x.so"))
        for text, code in (("int cuzk_a(void) { return 1; }", 0), ("int cuzk_a(void) { return 1; } int other;", 1),
                           ("static int a;", 1)):
            self.write("x.c", text + "\n")
            subprocess.run(["cc", "-shared", "-fPIC", "-w", "-nostartfiles", "-o", library, source], check=True)
            self.assertEqual(self.run_check("check_symbols.py", library).returncode, code, text)

    def test_counting(self):
        """run_tests.py adds up the cases of each kind of program, and counts a crash without a failed case."""
        def program(name, body):
            return 'add_test(%s "/bin/sh" "-c" "%s")\n' % (name, body)
        three = "echo '[==========] 3 test(s) run.[  PASSED  ] 2 test(s).'; echo '[  SKIPPED ] 1 test(s), listed below:'"
        good = program("three", three) + program("plain", "true")
        self.write("CTestTestfile.cmake", good)
        ran = self.run_check("run_tests.py", self.folder.name)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertEqual(ran.stdout.splitlines()[-1], "3 passed, 0 failed, 1 skipped")
        python = "echo 'Ran 7 tests in 0.1s'; echo; echo 'FAILED (failures=1, errors=2, skipped=1)'; exit 1"
        self.write("CTestTestfile.cmake", good + program("crash", three + "; exit 3") + program("absent", "exit 127") +
                   program("python", python) + program("own", "echo '10 passed, 0 failed, 1 skipped'"))
        ran = self.run_check("run_tests.py", self.folder.name)
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertEqual(ran.stdout.splitlines()[-1], "18 passed, 5 failed, 4 skipped")


if __name__ == "__main__":
    unittest.main()
