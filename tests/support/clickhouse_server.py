# SPDX-License-Identifier: MIT
"""A ClickHouse server of a case's own, in the case's directory, on free ports of 127.0.0.1. It is ended by its process
id; whatever the case does, it does not outlive it."""
import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.sax.saxutils

from support.cases import Failure, expect

READY_S = 30
START_ATTEMPTS = 5

CONFIG = """<yandex>
<logger><level>warning</level><console>0</console><log>{dir}/log</log><errorlog>{dir}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path><user_files_path>{dir}/files/</user_files_path>
<users_config>{dir}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>268435456</mark_cache_size><timezone>{timezone}</timezone>{more}
</yandex>
"""

USERS = """<yandex><profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
<users><{user}>{password}<networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></{user}></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows>
<read_rows>0</read_rows><execution_time>0</execution_time></interval></default></quotas></yandex>
"""

ZSTD = ("<compression><case><min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio>"
        "<method>zstd</method></case></compression>")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clustered(name, tcp_ports, user="default", password=""):
    """The configuration of a cluster of one replica for each shard."""
    shards = "".join(f"<shard><replica><host>127.0.0.1</host><port>{port}</port><user>{user}</user>"
                     f"<password>{password}</password></replica></shard>" for port in tcp_ports)
    return f"<remote_servers><{name}>{shards}</{name}></remote_servers>"


class Server:
    def __init__(self, ctx, name="clickhouse", *, user="default", password="", zstd=False, timezone="UTC",
                 http=None, tcp=None, more=""):
        self.dir = ctx.dir / name
        for part in ("data", "tmp", "files"):
            (self.dir / part).mkdir(parents=True)
        self.user, self.password, self.timezone = user, password, timezone
        self.more = more + (ZSTD if zstd else "")
        self.http, self.tcp = http, tcp
        self.chosen = http is not None
        self.process = None

    @property
    def url(self):
        return f"clickhouse://127.0.0.1:{self.http}"

    def start(self):
        """Ready for queries when it returns. Ports that another program has taken meanwhile are replaced, unless the
        case has chosen them or the server has had them before."""
        for _ in range(START_ATTEMPTS):
            if not self.chosen:
                self.http, self.tcp = free_port(), free_port()
            if self._try_start():
                self.chosen = True
                return self
        raise Failure(f"ClickHouse did not start: {self._errors()}")

    def kill(self):
        """As if the power of its machine had gone, but for what the system holds for the disk."""
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)

    def cpu_s(self):
        """Seconds of processor that it has used."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, statement, data=b"", database="", **settings):
        """Rows of texts, as the server writes them. data: of an INSERT whose format is not VALUES."""
        parameters = {"wait_end_of_query": 1, **settings, **({"database": database} if database else {})}
        body = statement.encode()
        if data:
            parameters["query"], body = statement, data
        request = urllib.request.Request(f"http://127.0.0.1:{self.http}/?{urllib.parse.urlencode(parameters)}", body,
                                         {"X-ClickHouse-User": self.user, "X-ClickHouse-Key": self.password})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read().decode("utf-8", "surrogateescape")
        except urllib.error.HTTPError as error:
            raise Failure(f"ClickHouse: {error.read().decode()[:500]} for {statement[:200]}") from error
        return [line.split("\t") for line in text.splitlines()]

    def number(self, statement, **settings):
        return int(self.ask(statement, **settings)[0][0])

    def _try_start(self):
        password = f"<password>{xml.sax.saxutils.escape(self.password)}</password>"
        (self.dir / "users.xml").write_text(USERS.format(user=self.user, password=password))
        (self.dir / "config.xml").write_text(CONFIG.format(dir=self.dir, http=self.http, tcp=self.tcp,
                                                           timezone=self.timezone, more=self.more))
        with open(self.dir / "output", "ab") as output:
            self.process = subprocess.Popen(["/usr/sbin/clickhouse-server", f"--config-file={self.dir}/config.xml"],
                                            cwd=self.dir, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError, Failure):
                # Another server may have this port: ours knows its own directory.
                if self.ask("SELECT value FROM system.build_options LIMIT 1") and self._is_ours():
                    return True
            time.sleep(0.1)
        self._end(signal.SIGKILL)
        return False

    def _is_ours(self):
        with open(f"/proc/{self.process.pid}/net/tcp", encoding="ascii") as file:
            inodes = {line.split()[9] for line in file.readlines()[1:]
                      if line.split()[3] == "0A" and int(line.split()[1].rpartition(":")[2], 16) == self.http}
        for descriptor in os.listdir(f"/proc/{self.process.pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/{self.process.pid}/fd/{descriptor}")
                if target.startswith("socket:[") and target[8:-1] in inodes:
                    return True
        return False

    def _errors(self):
        path = self.dir / "errors"
        return path.read_text(errors="replace")[-1000:] if path.exists() else "it wrote nothing"

    def _end(self, number):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(30)
        self.process = None


@contextlib.contextmanager
def server(ctx, name="clickhouse", **options):
    one = Server(ctx, name, **options)
    try:
        yield one.start()
    finally:
        one.kill()


@contextlib.contextmanager
def cluster(ctx, number=2, name="fleet_shards"):
    """So many servers that know each other as the shards of a cluster."""
    for _ in range(START_ATTEMPTS):
        ports = [(free_port(), free_port()) for _ in range(number)]
        more = clustered(name, [tcp for _, tcp in ports])
        servers = [Server(ctx, f"shard{i}-{ports[i][0]}", http=http, tcp=tcp, more=more)
                   for i, (http, tcp) in enumerate(ports)]
        try:
            started = []
            with contextlib.suppress(Failure):
                started = [one.start() for one in servers]
            if len(started) == number:
                yield servers
                return
        finally:
            for one in servers:
                one.kill()
    expect(False, "no cluster of servers started")
