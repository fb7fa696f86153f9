"""Failures to be planted in outputs, as the tools themselves print them."""

from __future__ import annotations

EVERYWHERE = (
    "error: planted failure 7741",
    "FAILED tests/test_planted.py::test_case_7741 - AssertionError: 1 != 2",
    "Process exited with code 77",
    "7741 failed, 12 passed",
    "Traceback (most recent call last):",
    "fatal: planted object 7741 is missing",
    "PlantedError: case 7741",
)
"""What may stand in any output, since any program may fail in the midst of another's."""

OWN: dict[str, tuple[str, ...]] = {
    "pytest": ("tests/test_planted.py::test_case_7741 FAILED  [ 50%]", "E   assert 7741 == 1"),
    "unittest": ("test_case_7741 (tests.planted.Planted.test_case_7741) ... FAIL",),
    "cargo-test": ("test planted::case_7741 ... FAILED", "error[E7741]: planted"),
    "cargo-nextest": ("        FAIL [   0.022s] (7/41) planted case::seven",),
    "cargo-build": ("error[E7741]: planted", "  --> src/planted.rs:77:41"),
    "cargo-clippy": ("error: this planted lint is new", "  --> src/planted.rs:77:41"),
    "go-test": ("--- FAIL: TestPlanted7741 (0.01s)", "    planted_test.go:77: got 41, want 7"),
    "go-build": ("./planted.go:77:41: undefined: planted",),
    "jest": ("  ✕ planted case 7741 (3 ms)", "  ● planted › case 7741", "FAIL src/planted.test.js"),
    "vitest": (" × src/planted.test.ts > case 7741 3ms", " FAIL  src/planted.test.ts > case 7741"),
    "tsc": ("src/planted.ts(77,41): error TS7741: Planted.",),
    "eslint": ("  77:41  error    'planted' is not defined    no-undef",),
    "ruff": ("planted.py:77:41: F821 Undefined name `planted`",),
    "pylint": ("planted.py:77:41: E0602: Undefined variable 'planted' (undefined-variable)",),
    "mypy": ('planted.py:77: error: Name "planted" is not defined  [name-defined]',),
    "npm": ("npm error code EPLANTED", "npm ERR! planted failure 7741"),
    "webpack": ("ERROR in ./src/planted.js 77:41",),
    "pip": ("ERROR: No matching distribution found for planted==77.41",),
    "git": (" ! [rejected]        planted -> planted (non-fast-forward)",),
    "git-status": ("\tboth modified:   planted.py", "UU planted.py"),
    "git-log": ("fatal: bad object 7741",),
    "git-diff": ("diff --git a/planted.py b/planted.py", "fatal: bad revision 'planted'"),
    "git-show": ("diff --git a/planted.py b/planted.py",),
    "ls": ("ls: cannot access 'planted': No such file or directory",),
    "find": ("find: ‘./planted’: Permission denied",),
    "grep": ("grep: planted: Permission denied",),
    "docker": ("Error response from daemon: planted 7741",),
    "docker-build": (" => ERROR [7/41] RUN planted    0.1s", "#77 0.411 ERROR: planted"),
    "kubectl": ("planted-7741   0/1   CrashLoopBackOff   7   41m",),
    "make": ("make: *** [Makefile:77: planted] Error 41", "planted.c:77:41: error: planted"),
    "cmake": ("CMake Error at CMakeLists.txt:77 (planted):",),
    "ctest": ("7/41 Test #7: planted ......***Failed    0.02 sec", "[  FAILED  ] Planted.Case"),
    "gcc": ("planted.c:77:41: error: planted", "planted.c:(.text+0x7): undefined reference to `p'"),
    "gradle": ("> Task :planted FAILED", "e: file:///planted.kt:77:41 Unresolved reference: p"),
    "maven": ("[ERROR] /planted.java:[77,41] cannot find symbol", "[INFO] BUILD FAILURE"),
    "terraform": ("  # planted.seven will be destroyed", "│ Error: planted 7741"),
    "curl": ("curl: (77) planted failure", "HTTP/1.1 503 Service Unavailable"),
    "generic-log": ("2026-01-02 10:00:04 ERROR planted: case 7741",),
    "generic-json": ('{"level": "error", "message": "planted 7741"}',),
    "generic-text": ("Error: planted 7741",),
    "generic": ("planted.x:77:41: error: case 7741",),
}
"""What a tool prints itself, by the name of its profile."""
