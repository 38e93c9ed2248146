# SPDX-License-Identifier: MIT
"""A server of NATS with JetStream on a free port of this machine, and a client of a few lines that reads its streams
back: what the library of the tested programs does must not be checked with that library."""
import base64
import contextlib
import itertools
import json
import os
import signal
import socket
import ssl
import subprocess
import time

from support.cases import expect

PROGRAM = "/usr/sbin/nats-server"


class NatsServer:
    """users: {name: password}; tls: of certificates(); max_payload: bytes; permissions: of each user, in the words of
    the server's configuration."""

    def __init__(self, directory, *, users=None, tls=None, max_payload=None, jetstream=True, permissions=""):
        self.directory = directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self.users, self.tls, self.jetstream = users, tls, jetstream
        self.max_payload, self.permissions = max_payload, permissions
        self.port = free_port()
        self.process = None

    @property
    def address(self):
        return f"{'tls' if self.tls else 'nats'}://127.0.0.1:{self.port}"

    def configuration(self):
        lines = [f'listen: "127.0.0.1:{self.port}"']
        if self.jetstream:
            lines.append(f'jetstream {{ store_dir: "{self.directory / "store"}" }}')
        if self.max_payload:
            lines.append(f"max_payload: {self.max_payload}")
        if self.users:
            users = ", ".join(f'{{ user: "{user}", password: "{password}" {self.permissions} }}'
                              for user, password in self.users.items())
            lines.append(f"authorization {{ users: [{users}] }}")
        if self.tls:
            verify = f'ca_file: "{self.tls["ca"]}", verify: true' if self.tls.get("verify") else ""
            lines.append(f'tls {{ cert_file: "{self.tls["cert"]}", key_file: "{self.tls["key"]}", {verify} }}')
        return "\n".join(lines) + "\n"

    def start(self, limit_s=20):
        (self.directory / "nats.conf").write_text(self.configuration())
        log = open(self.directory / "log", "a", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen([PROGRAM, "-c", str(self.directory / "nats.conf")], stdout=log, stderr=log,
                                        stdin=subprocess.DEVNULL)
        log.close()
        until = time.monotonic() + limit_s
        while True:
            expect(self.process.poll() is None, f"nats-server ended: {(self.directory / 'log').read_text()}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                if probe.recv(4) == b"INFO":
                    return self
            expect(time.monotonic() < until, f"no server: {(self.directory / 'log').read_text()}")
            time.sleep(0.02)

    def stop(self, number=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(20)
            self.process = None

    def kill(self):
        self.stop(signal.SIGKILL)

    def client(self, **options):
        user, password = next(iter(self.users.items())) if self.users else (None, None)
        return NatsClient(self.port, user=user, password=password, tls=self.tls, **options)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class NatsClient:
    def __init__(self, port, *, user=None, password=None, tls=None):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile("rb")
        self.file.readline()  # INFO
        if tls:
            self.socket = ssl.create_default_context(cafile=str(tls["ca"])).wrap_socket(
                self.socket, server_hostname="127.0.0.1")
            self.file = self.socket.makefile("rb")
        words = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "user": user,
                 "pass": password}
        self.socket.sendall(b"CONNECT " + json.dumps({key: value for key, value in words.items()
                                                      if value is not None}).encode() + b"\r\nSUB _T.* 1\r\nPING\r\n")
        self.numbers = itertools.count()
        expect(self.file.readline().startswith(b"PONG"), "the server takes no connection")

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, subject, body, headers=None, reply=""):
        head = b"NATS/1.0\r\n" + b"".join(f"{key}: {value}\r\n".encode() for key, value in (headers or {}).items()) + \
            b"\r\n"
        self.socket.sendall(f"HPUB {subject} {reply} {len(head)} {len(head) + len(body)}\r\n".encode() + head + body +
                            b"\r\n")

    def request(self, subject, body=b"", headers=None):
        reply = f"_T.{next(self.numbers)}"
        self.send(subject, body, headers, reply)
        while True:
            line = self.file.readline()
            expect(line, "the server has closed the connection")
            words = line.split()
            if words[0] == b"PING":
                self.socket.sendall(b"PONG\r\n")
            if words[0] in (b"MSG", b"HMSG"):
                data = self.file.read(int(words[-1]))
                self.file.read(2)
                if words[1].decode() == reply:
                    return data[int(words[-2]):] if words[0] == b"HMSG" else data

    def api(self, name, **body):
        return json.loads(self.request(f"$JS.API.{name}", json.dumps(body).encode() if body else b""))

    def messages(self, stream="REMORA"):
        """All messages of a stream: (sequence, subject, headers, body)."""
        info = self.api(f"STREAM.INFO.{stream}")
        if "error" in info:
            return []
        found = []
        for sequence in range(info["state"]["first_seq"], info["state"]["last_seq"] + 1):
            answer = self.api(f"STREAM.MSG.GET.{stream}", seq=sequence)
            if "message" not in answer:
                continue
            message = answer["message"]
            lines = base64.b64decode(message.get("hdrs", "")).decode().split("\r\n")[1:]
            headers = dict(line.split(": ", 1) for line in lines if ": " in line)
            found.append((sequence, message["subject"], headers, base64.b64decode(message.get("data", ""))))
        return found


def certificates(directory, name="ca", host="127.0.0.1"):
    """An authority of its own, and a server's certificate by it."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = {part: directory / f"{name}-{part}.pem" for part in ("ca", "cakey", "cert", "key")}

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            f"/CN={name}", "-keyout", paths["cakey"], "-out", paths["ca"])
    request, extra = directory / f"{name}.csr", directory / f"{name}.ext"
    kind = "IP" if host.replace(".", "").isdigit() else "DNS"
    extra.write_text(f"subjectAltName={kind}:{host}\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={host}", "-keyout",
            paths["key"], "-out", request)
    openssl("x509", "-req", "-in", request, "-CA", paths["ca"], "-CAkey", paths["cakey"], "-CAcreateserial", "-days",
            "2", "-extfile", extra, "-out", paths["cert"])
    os.chmod(paths["key"], 0o600)
    return paths
