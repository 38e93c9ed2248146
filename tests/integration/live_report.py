# SPDX-License-Identifier: MIT
"""report --live: the page follows a machine that runs, out of its memory; its server answers its reader alone."""
import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

from viewers.browser import chromium
from support import recorded
from support.cases import case, expect, expect_equal
from support.context import REMORA, ROOT
from support.guests import OK

RAM_BYTES = 128 << 20
JOBS = """return report.trace.tasks.flatMap((task) => Array.from(task.jobs.number, (number, i) =>
    [task.name, number, !isNaN(task.jobs.end[i]), task.jobs.late[i]]))"""
CAUSES = """return report.trace.tasks.flatMap((task) => task.jobs.late.reduce((found, late, i) =>
    late ? [...found, report.trace.whyLate(task, i).join(" ")] : found, []))"""
# Everything that is drawn, but for what drawing keeps beside it.
ARRAYS = """return JSON.stringify([report.trace, report.trace.facts.details, report.trace.facts.culprits,
    report.trace.facts.texts, report.trace.facts.kinds], (key, value) =>
        ["facts", "inColumns", "on", "misses", "range", "sum"].includes(key) ? undefined
        : ArrayBuffer.isView(value) ? Array.from(value, String).join(" ")
        : value instanceof Map ? [...value] : value)"""


class Server:
    """`remora report --live` that has printed its address."""

    def __init__(self, ctx, ram, *options):
        self.ctx = ctx
        self.errors = open(ctx.dir / "live.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([str(ROOT / REMORA), "report", str(ram), "--live", *map(str, options)],
                                        stdout=subprocess.PIPE, stderr=self.errors, stdin=subprocess.DEVNULL,
                                        text=True, cwd=ROOT)
        self.address = self.process.stdout.readline().strip()
        expect(re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{64}/", self.address),
               f"the first line is {self.address!r}; {self.said()}")
        self.url = urllib.parse.urlparse(self.address)

    def said(self):
        self.errors.flush()
        return (self.ctx.dir / "live.log").read_text()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def ask(self, path=None, method="GET", **headers):
        """path: what follows the token, or all of it if it begins with a slash. Status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.url.port, timeout=30)
        try:
            whole = path if path is not None and path.startswith("/") else self.url.path + (path or "")
            connection.putrequest(method, whole, skip_host="host" in headers)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def send(self, data):
        """The beginning of what a raw request is answered with; empty: the connection was closed."""
        with socket.create_connection(("127.0.0.1", self.url.port), timeout=30) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(data)
                return connection.recv(4096)
        return b""


@contextlib.contextmanager
def serving(ctx, ram, *options):
    server = Server(ctx, ram, *options)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def ram_file(ctx, name="ram"):
    path = ctx.dir / name
    with open(path, "wb") as file:
        file.truncate(RAM_BYTES)
    return path


def wait_for(ctx, page, state):
    while (found := page.run("return document.body.dataset.live")) != state:
        expect(ctx.left_s() > 5, f"the page stays {found}: {page.complaints()}")
        time.sleep(0.05)


def is_ready(page):
    return page.run("return document.body.dataset.state === 'ready' && report.live !== undefined")


def jobs_of(ctx, trace):
    rows = json.loads(ctx.remora("sql", trace, "select task, job, end_ns, missed from jobs", "--json").stdout)["rows"]
    return sorted((row["task"], row["job"], row["end_ns"] is not None, row["missed"]) for row in rows)


@case(timeout_s=240)
def live_report_follows_a_machine(ctx):
    """The page is open before the kernel starts; jobs come while it runs, in parts; what was picked and marked stays;
    at the end its jobs are those of `remora sql`, with the cause of each late one, and so are those of the page that is
    written at the end."""
    ram = ram_file(ctx)
    counts, marked = [], []
    written = ctx.dir / "run.html"

    def look(_monitor):
        if not is_ready(page):
            return
        time.sleep(0.2)
        jobs, end, last = page.run("return [report.trace.tasks.reduce((sum, task) => sum + task.jobs.count, 0), "
                                   "report.view.to, report.trace.last]")
        if not counts or jobs != counts[-1][0]:
            counts.append((jobs, end, last, bool(marked)))
        if len(counts) > 3 and not marked:
            page.run("pickJob(report.timeline, report.trace.tasks.find((task) => task.jobs.count > 5), 3)")
            page.press("[", "d", "]")
            marked.append(page.run("return report.view.address()"))
            expect("job=" in marked[0] and "a=" in marked[0], marked[0])

    with serving(ctx, ram, "-o", written) as server, chromium(ctx) as page:
        page.driver.get(server.address)
        wait_for(ctx, page, "waiting")
        ctx.boot("control", nic="none", ram=ram, duration_ms=4000, meanwhile=look).expect_code(OK)
        wait_for(ctx, page, "ended")
        expect(len(counts) > 4, f"jobs while it ran: {counts}")
        grown = [jobs for jobs, *_ in counts]
        expect(grown == sorted(grown), f"jobs while it ran: {grown}")
        for _, end, last, is_marked in counts:
            expect(is_marked or end >= last, f"the end is not in sight: {end} of {last}")
        expect_equal(page.run("return report.view.address()"), marked[0], "what was picked and marked")
        page.press("e")
        expect(page.run("return report.live.follows && report.view.to >= report.trace.last"), "e does not follow")
        expect_equal(sorted(map(tuple, page.run(JOBS))), jobs_of(ctx, ram), "jobs")
        expect(page.run("return report.live.updates") > 3, "updates")
        missed = [row for row in jobs_of(ctx, ram) if row[3]]
        causes = page.run(CAUSES)
        expect(missed and len(causes) == len(missed) and all(causes), f"causes of {missed}: {causes}")
        expect("the run has ended" in page.text("#live") and "the run has ended" in server.said(), server.said())
        unexpected = [url for url in page.requests() if not url.startswith(server.address)]
        expect_equal([url for url in unexpected if url.startswith("http") and "favicon" not in url], [], "requests")
        expect_equal([text for text in page.complaints() if "favicon" not in text], [], "complaints")
        in_parts = page.run(ARRAYS)
        page.driver.get(server.address + "?again")
        wait_for(ctx, page, "ended")
        same("at once", page.run(ARRAYS), in_parts)
        expect_equal(server.end(), 0, "exit code")
        page.open(written)
        same("in the file", page.run(ARRAYS), in_parts)
        expect_equal(page.run(CAUSES), causes, "causes in the file")


def same(what, found, expected):
    """What came in parts is, to the number, what a page has that gets it all together."""
    if found != expected:
        at = next((i for i, (one, other) in enumerate(zip(found, expected)) if one != other), 0)
        expect(False, f"{what}: {found[max(at - 200, 0):at + 50]} is in parts {expected[max(at - 200, 0):at + 50]}")


@case
def live_report_extends_extremes_as_if_they_came_at_once(ctx):
    """The blocks of a curve's extremes, whatever the lengths of the parts, about 64 and 64 * 64 values too."""
    with serving(ctx, ram_file(ctx)) as server, chromium(ctx) as page:
        page.driver.get(server.address)
        wait_for(ctx, page, "waiting")
        wrong = page.run("""
            const wrong = [];
            const text = ({levels}) => JSON.stringify(levels.map((pair) => pair.map((one) => Array.from(one))));
            for (const known of [0, 1, 63, 64, 65, 127, 128, 4095, 4096, 4097]) {
                for (const more of [1, 2, 63, 64, 65, 4096]) {
                    const values = Float64Array.from({length: known + 2 * more}, (_, i) => (i * 7919) % 10007 - 5000);
                    const grown = new Extremes(values.slice(0, known));
                    extendExtremes(grown, values.slice(0, known + more), known);
                    extendExtremes(grown, values, known + more);
                    if (text(grown) !== text(new Extremes(values))) {
                        wrong.push([known, more]);
                    }
                }
            }
            return wrong""")
        expect_equal(wrong, [], "values known, values more")


@case(timeout_s=240)
def live_report_begins_anew_with_the_machine(ctx):
    """The machine is reset in the middle of its run: the page says so, and shows the next run from its beginning."""
    ram = ram_file(ctx)
    seen = []

    def reset(monitor):
        time.sleep(0.2)
        run, jobs = page.run("""return document.body.dataset.state !== "ready" || !report.live ? [0, 0]
            : [report.live.run, report.trace.tasks.reduce((sum, task) => sum + task.jobs.count, 0)]""")
        if run == 1 and jobs > 20 and not seen:
            seen.append(jobs)
            expect(monitor.do("system_reset"), "no reset")
        elif run == 2 and jobs > 5:
            seen.append(jobs)
            monitor.do("quit")

    with serving(ctx, ram) as server, chromium(ctx) as page:
        page.driver.get(server.address + "#t=1-2&row=task1")
        ctx.boot("control", nic="none", ram=ram, duration_ms=60_000, meanwhile=reset,
                 devices=["-action", "reboot=reset"])
        expect(len(seen) > 1, f"jobs {seen}; {server.said()}")
        expect("run 2, the machine was started anew" in page.text("#live"), page.text("#live"))
        expect("row=task1" not in page.run("return location.href"), "the place in the former run is still there")
        expect("E-BOOT" in server.said() and "the machine was reset" in server.said(), server.said())
        expect_equal(server.end(), 2, "exit code")


@case
def live_report_answers_its_reader_alone(ctx):
    """A wrong token, a foreign Host or Origin, other methods, a path of a file, a head that is too large: refused, and
    the headers of each answer. Only 127.0.0.1 listens."""
    with serving(ctx, ram_file(ctx)) as server:
        port = server.url.port
        status, headers, body = server.ask()
        expect_equal(status, 200, "the page")
        expect(b"Content-Security-Policy" in body and b"connect-src 'self'" in body, "no policy in the page")
        expect_equal(server.ask("data")[0], 200, "data")
        expect_equal(server.ask("data", host=f"localhost:{port}")[0], 200, "data of localhost")
        expect_equal(server.ask("data", origin=f"http://127.0.0.1:{port}")[0], 200, "data for its own page")
        token = server.url.path.strip("/")
        other = token[:-1] + ("0" if token[-1] != "0" else "1")
        tries = {
            "another token": (404, f"/{other}/data"), "no token": (404, "/"), "a part of it": (404, f"/{token[:32]}/"),
            "no slash": (404, f"/{token}"), "more than it": (404, f"/{token}0/data"), "a file": (404, "etc/passwd"),
            "a folder above": (404, "../../../../etc/passwd"), "an icon": (404, "/favicon.ico"),
        }
        for what, (expected, path) in tries.items():
            expect_equal(server.ask(path)[0], expected, what)
        for what, fields in {"another name": {"host": f"evil.example:{port}"}, "another port": {"host": "127.0.0.1:1"},
                             "no port": {"host": "127.0.0.1"}, "another page": {"origin": "http://evil.example"},
                             "no page": {"origin": "null"}}.items():
            status, answered, body = server.ask("data", **fields)
            expect_equal((status, body), (403, b""), what)
            expect_equal(answered["Content-Security-Policy"], headers["Content-Security-Policy"], f"policy of {what}")
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "SLUG"):
            status, answered, _ = server.ask("data", method=method)
            expect_equal((status, answered["Allow"]), (405, "GET"), method)
        for name, value in {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                            "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
                            "Connection": "close"}.items():
            expect_equal(headers[name], value, name)
        expect("frame-ancestors 'none'" in headers["Content-Security-Policy"], headers["Content-Security-Policy"])
        expect("Access-Control-Allow-Origin" not in headers, "other sites may read it")
        start = f"GET {server.url.path}data HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
        answer = server.send(start + b"X: " + b"a" * 16384 + b"\r\n\r\n")
        expect(b" 200 " not in answer[:20], f"a head of 16 KiB: {answer[:80]}")
        answer = server.send(b"GET /" + b"a" * 16384 + b" HTTP/1.1\r\n\r\n")
        expect(b" 200 " not in answer[:20], f"a path of 16 KiB: {answer[:80]}")
        expect(server.send(start + b"Host: evil.example\r\n\r\n").split(b" ")[1] != b"200", "two names")
        expect(server.send(b"GET / HTTP/1.1\r\n\r\n").split(b" ")[1] in (b"400", b"403"), "no name")
        expect_equal(listening_on(port), ["0100007F"], "addresses that listen")
        busy = ctx.remora("report", ctx.dir / "ram", "--live", "--port", port, codes=(1,))
        expect(f"port {port} of 127.0.0.1: Address already in use" in busy.stderr, busy.stderr)


def listening_on(port):
    found = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="utf-8") as table:
            rows = [line.split() for line in list(table)[1:]]
        found += [row[1].split(":")[0] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]
    return found


@case(timeout_s=240)
def slow_requests_do_not_stop_the_live_report(ctx):
    """Far more connections than the server takes send their heads a byte at a time. The run is read meanwhile, and the
    server answers, because who waits for the longest time gives up its place."""
    ram = ram_file(ctx)
    answered = threading.Event()

    def drip(connections):
        while not answered.wait(0.2):
            for one in connections:
                with contextlib.suppress(OSError):
                    one.sendall(b"a")

    with serving(ctx, ram, "-o", ctx.dir / "run.html") as server, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", server.url.port))) for _ in range(400)]
        for one in slow:
            with contextlib.suppress(OSError):
                one.sendall(b"GET / HTTP/1.1\r\nX: ")
        dripping = threading.Thread(target=drip, args=(slow,))
        dripping.start()
        try:
            ctx.boot("control", nic="none", ram=ram, duration_ms=300).expect_code(OK)
            while "the run has ended" not in server.said():
                expect(ctx.left_s() > 5, "the run is not read")
                time.sleep(0.1)
            expect_equal(server.ask()[0], 200, "the page")
        finally:
            answered.set()
            dripping.join()
        expect_equal(server.end(), 0, "exit code")
        expect(len(jobs_of(ctx, ram)) > 10 and (ctx.dir / "run.html").stat().st_size > 100_000, "the page at the end")


@case
def live_report_refuses_what_it_cannot_follow(ctx):
    """A directory, a trace that has ended, a missing file, options that need the end: each names what is needed."""
    control = recorded.control()
    for words, text in (((control, "--live"), "--live needs the memory of a machine"),
                        ((sorted(control.glob("*.dat"))[0], "--live"), "only the memory of a machine that runs"),
                        ((ctx.dir / "missing", "--live"), "cannot be opened"),
                        ((control, "--live", "-o", "-"), "-o needs a file"),
                        ((control, "--live", "--raises", "x"), "not with --live"),
                        ((control, "--port", "5000", "-o", "x"), "--port is that of --live"),
                        ((control,), "-o FILE is required")):
        done = ctx.remora("report", *words, codes=(1,))
        expect(text in done.stderr, f"{words}: {done.stderr}")
