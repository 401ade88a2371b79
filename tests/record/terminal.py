"""A recorded program at a terminal: what it sees, Ctrl-C, Ctrl-Z and `fg`.

Usage: terminal.py STUNT PROGRAMS. Waits for what is printed, never for a time. Exits with 0 if all
went as it does without stunt.
"""

import os
import pty
import select
import sys

STUNT, PROGRAMS = sys.argv[1:3]
RECORD = [STUNT, "record", "--"]


class Terminal:
    """A program that has a terminal of its own."""

    def __init__(self, words):
        self.shown = b""
        self.child, self.end = pty.fork()
        if self.child == 0:
            os.execvp(words[0], words)

    def until(self, text):
        """Reads until this was printed, and forgets what came before it."""
        while text not in self.shown:
            try:
                more = os.read(self.end, 4096)
            except OSError:
                more = b""
            if not more:
                raise SystemExit(f"the end came before {text!r}: {self.shown!r}")
            self.shown += more
        self.shown = self.shown.split(text, 1)[1]

    def pressing(self, keys, text):
        """Presses keys, again where nobody was there to take them, until this was printed."""
        while text not in self.shown:
            self.type(keys)
            if select.select([self.end], [], [], 1.0)[0]:
                self.shown += os.read(self.end, 4096)
        self.until(text)

    def type(self, keys):
        """Presses keys."""
        os.write(self.end, keys)

    def status(self):
        """Reads to the end; the exit status."""
        try:
            while os.read(self.end, 4096):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


def expect(what, found, wanted):
    """Compares."""
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


program = Terminal(RECORD + [PROGRAMS, "terminal"])
program.until(b"111")
expect("a terminal is a terminal", program.status(), 0)

program = Terminal(RECORD + [PROGRAMS, "signals", "1"])
program.until(b"ready")
program.type(b"\x03")
program.until(b"signal 2")
expect("Ctrl-C that is handled, once", program.status(), 9)

program = Terminal(RECORD + ["cat"])
program.type(b"hello\n")
program.until(b"hello\r\nhello")
program.type(b"\x03")
expect("Ctrl-C", program.status(), 128 + 2)

shell = Terminal(["bash", "--norc", "--noprofile", "-i"])
# One key too many must not end the shell.
shell.type(b"set -o ignoreeof\n")
shell.type(f"PS1=; '{STUNT}' record --forget -- sh -c 'echo begun; exec cat'\n".encode())
shell.until(b"begun\r\n")
shell.type(b"one\n")
shell.until(b"one\r\none")
shell.type(b"\x1a")
shell.until(b"Stopped")
shell.type(b"fg; echo status=$?.\n")
# What is typed while the shell hands the terminal over may be lost.
shell.pressing(b"two\n", b"two\r\n")
shell.pressing(b"\x04", b"status=0.")
shell.type(b"exit 0\n")
expect("a job that was stopped and went on", shell.status(), 0)
