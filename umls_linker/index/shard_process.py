"""Writing shards in a process of their own, so that two processors share the work of a build.

The strings go through a file, and a pipe says with one byte for each block of them that it is there: neither process
waits for the other before all is done. The shards' process writes the list of shards, without which they are not to be
found, only when it was told that all has come: when the builder dies, the pipe ends without a word, and so does the
process.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import umls_linker
from umls_linker.index.shards import Runs, ShardsWriter

BLOCK = 1000  # strings that are written together
MORE, ALL = b"+", b"."


class ShardsProcess:
    """As `ShardsWriter`, for strings that are numbered from 0 on as they come. `scratch`: where the file between lies.

    To be used in a `with`: at its end the shards are whole, or an error is raised.
    """

    def __init__(self, folder: Path, runs: Runs, scratch: Path) -> None:
        root = str(Path(umls_linker.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        blocks = scratch / "strings.blocks"
        self._blocks = blocks.open("wb")
        command = [sys.executable, "-m", __name__, str(folder), str(runs.length), str(int(runs.marked)), str(blocks)]
        self._process = subprocess.Popen(  # noqa: S603 - our own words only
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
        )
        self._block: list[str] = []

    def add(self, text: str) -> None:
        self._block.append(text)
        if len(self._block) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        """Hand over what has come so far."""
        marshal.dump(self._block, self._blocks)
        self._blocks.flush()
        self._block = []
        self._say(MORE)

    def _say(self, word: bytes) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(word)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None

    def _failure(self) -> OSError:
        assert self._process.stderr
        said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        self._process.wait()
        reason = said[-1] if said else f"it ended with status {self._process.returncode}"
        return OSError(f"The process that writes the index's shards failed: {reason}")

    def __enter__(self) -> ShardsProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.flush()
                self._say(ALL)
                if self._process.wait() != 0:
                    raise self._failure()
        finally:
            self._process.kill()
            self._process.wait()
            for file in (self._blocks, self._process.stdin, self._process.stderr):
                if file:
                    file.close()


def main(arguments: list[str]) -> int:
    folder, length, marked, blocks = arguments
    writer = ShardsWriter(Path(folder), Runs(int(length), bool(int(marked))))
    try:
        for number, text in enumerate(_received(Path(blocks))):
            writer.add(text, number)
    except EOFError:
        return 1
    writer.close()
    return 0


def _received(blocks: Path) -> Iterator[str]:
    """What the builder sends. Raises EOFError when it breaks off."""
    builder = os.getppid()
    with blocks.open("rb") as file:
        # What was announced before the builder died is still in the pipe; nobody wants it any more.
        while (word := sys.stdin.buffer.read(1)) == MORE and os.getppid() == builder:
            yield from marshal.load(file)  # noqa: S302 - from the builder
    if word != ALL:
        raise EOFError


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
