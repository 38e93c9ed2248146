# SPDX-License-Identifier: MIT
"""Programs with a limit of time, memory and output, each in a process group of its own, so that nothing is left of a
mutant: neither of one that never ends, nor when the campaign is stopped."""
import concurrent.futures
import os
import pathlib
import resource
import signal
import subprocess
import threading

MEMORY_BYTES = 8 << 30  # of address space
FILE_BYTES = 1 << 30
SHOWN_BYTES = 1 << 20  # of a program's output, its end; one error of a compiler may have kilobytes of notes

_running = set()
_lock = threading.RLock()  # stop() may interrupt run()
stopped = threading.Event()


class Stopped(Exception):
    """The campaign was stopped."""


def _limit(memory, cpu_s):
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if cpu_s:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, *, cwd, limit_s, log, env=None, memory=None, cpu_s=None):
    """(exit code, or None if it took longer than limit_s, or than cpu_s of a processor; its output, the beginning left
    out). log: a file for it."""
    with open(log, "wb") as output:
        with _lock:
            if stopped.is_set():
                raise Stopped
            process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       env={**os.environ, **(env or {})}, start_new_session=True,
                                       preexec_fn=lambda: _limit(memory, cpu_s))
            _running.add(process)
        try:
            code = process.wait(limit_s)
            # A limit of its processor's time kills it.
            code = None if cpu_s and -code in (signal.SIGKILL, signal.SIGXCPU) else code
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)  # also what it started and left
            with _lock:
                _running.discard(process)
    if stopped.is_set():
        raise Stopped
    with open(log, "rb") as output:
        output.seek(max(0, pathlib.Path(log).stat().st_size - SHOWN_BYTES))
        return code, output.read().decode(errors="replace")


def parallel(workers, function, *lists):
    """As map(), by so many threads; after an exception what has not begun does not begin."""
    pool = concurrent.futures.ThreadPoolExecutor(workers)
    try:
        return list(pool.map(function, *lists))
    finally:
        pool.shutdown(cancel_futures=True)


def stop():
    """Ends whatever runs; run() raises Stopped from now on."""
    stopped.set()
    with _lock:
        for process in _running:
            _end(process)
