# SPDX-License-Identifier: MIT
"""By which protocol a run's chunks leave: acknowledged, as published, or what the collector answers. A capture shows
what was on the wire."""
import socket
import struct
import threading

from support.cases import case, expect
from support.guests import EXPORT_FAILED, OK, trace_files

V1, V2 = b"TRACER-V1.0\0", b"TRACER-V2.0\0"


def packets(pcap):
    """How many packets of each version a capture holds."""
    content = pcap.read_bytes()
    return content.count(V1), content.count(V2)


def exported(ctx, **boot):
    """A run to a collector and to the ramdisk: the line of the network's sink, the packets of V1 and of V2."""
    image = ctx.make_ramdisk()
    pcap = ctx.dir / "wire.pcap"
    with ctx.collector() as session:
        outcome = ctx.boot("control", sink="both", ramdisk=image, pcap=pcap, **boot).expect_code(OK)
    expect(trace_files(session) == ctx.disk_files(image)[0], "the network's files are not those of the ramdisk")
    expect(not session.with_suffix(".journal").exists(), "the journal of a session that has ended was left")
    for command in ("verify", "check", "print", "summary"):
        ctx.remora(command, session)
    ctx.remora("verify", session, "--capture", pcap)
    return next(line for line in outcome.markers if "records by udp" in line), *packets(pcap)


@case
def protocol_is_acknowledged_if_the_collector_answers(ctx):
    """Without a word about it: TRACER-V2.0, the session complete, its bytes those of the ramdisk."""
    line, published, acknowledged = exported(ctx)
    expect("TRACER-V2.0, acknowledged" in line and published == 0 and acknowledged > 100, f"{line}: {published}")


@case
def protocol_published_if_it_is_chosen(ctx):
    line, published, acknowledged = exported(ctx, protocol="v1")
    expect("TRACER-V1.0, not acknowledged" in line and acknowledged == 0, f"{line}: {acknowledged} packets of V2")
    expect(published > 100, f"{published} packets of V1")


@case
def protocol_is_the_published_one_without_an_answer(ctx):
    """A receiver that knows only TRACER-V1.0 gets the whole trace after a second; the kernel says what was used."""
    received = []
    over = threading.Event()

    def receive():
        while True:
            try:
                received.append(receiver.recv(2048))
            except TimeoutError:
                if over.is_set():
                    return

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", ctx.port))
        receiver.settimeout(0.1)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        thread = threading.Thread(target=receive)
        thread.start()
        try:
            image = ctx.make_ramdisk()
            outcome = ctx.boot("control", sink="both", ramdisk=image).expect_code(OK)
        finally:
            over.set()
            thread.join()
    expect("TRACER-V1.0, not acknowledged" in next(line for line in outcome.markers if "by udp" in line), str(outcome))
    asked = [packet for packet in received if packet.startswith(V2)]
    expect(1 < len(asked) < 8 and all(len(packet) == 80 for packet in asked), f"{len(asked)} packets of V2")
    records = b"".join(packet[24:] for packet in received if packet.startswith(V1))
    files = ctx.disk_files(image)[0]
    expect(records.startswith(b"".join(files[number] for number in sorted(files))), "not the records of the ramdisk")


@case
def protocol_acknowledged_without_a_collector(ctx):
    """It gives up after its patience, says so, and the ramdisk has everything."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("control", sink="both", protocol="v2", ramdisk=image,
                       waits=True).expect_code(EXPORT_FAILED)
    expect("udp: timeout" in outcome.marker("export failed: "), str(outcome))
    ctx.adopt(ctx.disk_files(image)[1])


@case
def sink_is_the_network_while_a_collector_answers(ctx):
    """SINK=auto: the disk stays empty."""
    image = ctx.make_ramdisk()
    with ctx.collector() as session:
        outcome = ctx.boot("control", sink="auto", ramdisk=image).expect_code(OK)
    expect("TRACER-V2.0, acknowledged" in outcome.marker("exported "), str(outcome))
    expect("TRACE" not in ctx.run("mdir", "-b", "-i", image, "::", codes=None).stdout.upper(), "a file on the disk")
    ctx.remora("verify", session)


def on_the_disk(ctx, reason, **boot):
    """SINK=auto without a network that carries: every record is on the ramdisk, and the reason on the console."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("control", sink="auto", ramdisk=image, **boot).expect_code(OK)
    expect(reason in outcome.marker("exporting disk, because "), str(outcome))
    kept = int(outcome.marker("trace: ").split()[1])
    expect(f"{kept} records by disk" in outcome.marker("exported "), f"{kept} records were kept; {outcome}")
    ctx.adopt(ctx.disk_files(image)[1])


@case
def sink_is_the_disk_without_a_collector(ctx):
    on_the_disk(ctx, "unreachable")


@case
def sink_is_the_disk_with_a_mute_collector(ctx):
    """A host that neither answers nor refuses: TRACER-V1.0 is sent, and who got it is unknown. That is no carrying,
    also if V1 was chosen."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        mute.bind(("127.0.0.1", ctx.port))
        on_the_disk(ctx, "nothing acknowledged what udp sent", waits=True)
        ctx.run("rm", "-rf", ctx.dir / "ramdisk.img", ctx.dir / "ramdisk.img.files")
        on_the_disk(ctx, "nothing acknowledged what udp sent", protocol="v1")


@case
def sink_is_the_disk_without_an_acknowledgement(ctx):
    on_the_disk(ctx, "timeout", protocol="v2", waits=True)


@case
def sink_is_the_disk_without_a_card(ctx):
    on_the_disk(ctx, "not found", nic="none", nic_word="pci")


KEY = "00112233445566778899AABBCCDDEEFF"


def key_file(ctx, name="key", text=KEY + "\n", mode=0o600):
    path = ctx.dir / name
    path.write_text(text)
    path.chmod(mode)
    return path


def hands_over(path):
    return {"devices": ["-fw_cfg", f"name=opt/remora/key,file={path}"]}


@case
def key_authenticates_the_export(ctx):
    """Collector and guest share a key: the session is complete, every packet has a MAC, and the key is nowhere else."""
    key = key_file(ctx)
    pcap = ctx.dir / "wire.pcap"
    with ctx.collector("--key", str(key)) as session:
        outcome = ctx.boot("control", sink="udp", pcap=pcap, **hands_over(key)).expect_code(OK)
    expect("TRACER-V2.0, acknowledged" in outcome.marker("exported "), str(outcome))
    ctx.remora("verify", session)
    wire = pcap.read_bytes()
    begins = [at for at in range(len(wire)) if wire.startswith(V2, at)]
    expect(len(begins) > 100 and all(wire[at + 56:at + 64] != bytes(8) for at in begins), "a packet without a MAC")
    for path in [pcap, *ctx.dir.glob("boot*/*.log"), *session.iterdir(), ctx.dir / "collector.log"]:
        content = path.read_bytes()
        for form in (KEY.lower().encode(), bytes.fromhex(KEY)):
            expect(form not in content and form not in content.lower(), f"the key is in {path}")


@case
def key_that_is_missing_or_wrong_gets_nothing_through(ctx):
    """A collector with a key takes neither another key nor none nor TRACER-V1.0, and the guest says that its trace did
    not leave; a guest with a key sends nothing to a collector without one."""
    key, other = key_file(ctx), key_file(ctx, "other", KEY[::-1])
    for collector, boot in ((key, hands_over(other)), (key, {"protocol": "v2"}), (None, hands_over(key))):
        image = ctx.make_ramdisk()
        with ctx.collector(*(["--key", str(collector)] if collector else []), code=2) as session:
            outcome = ctx.boot("control", sink="auto", ramdisk=image, waits=True, **boot).expect_code(OK)
        outcome.marker("exporting disk, because udp failed: timeout")
        expect(not list(session.glob("*.dat")), "something was received")
    with ctx.collector("--key", str(key), code=2) as session:
        ctx.boot("control", sink="udp", protocol="v1").expect_code(OK)
    expect(not list(session.glob("*.dat")), "what no key authenticates was received")
    expect("which no key authenticates" in (ctx.dir / "collector.log").read_text(), "nothing was said about it")
    outcome = ctx.boot("control", sink="udp", protocol="v1", **hands_over(key)).expect_code(EXPORT_FAILED)
    expect("there is a key" in outcome.serial, str(outcome))
    outcome = ctx.boot("control", sink="udp", **hands_over(key_file(ctx, "bad", KEY[1:]))).expect_code(EXPORT_FAILED)
    expect("opt/remora/key is not 32 hexadecimal digits" in outcome.serial, str(outcome))


@case(timeout_s=240)
def key_of_the_loader(ctx):
    """A file beside the kernel, on the volume that the firmware starts from: the export is authenticated, and the text
    is wiped where the loader handed it over. QEMU may hand over the same key."""
    key, ram = key_file(ctx), ctx.dir / "ram"
    for handed_over in ({"ram": ram}, hands_over(key)):
        with ctx.collector("--key", str(key)) as session:
            outcome = ctx.boot("control", boot="uefi", sink="udp", loader_key=key, **handed_over).expect_code(OK)
        expect("TRACER-V2.0, acknowledged" in outcome.marker("exported "), str(outcome))
        ctx.remora("verify", session)
    memory = ram.read_bytes()
    begin = memory.find(b"RMRABOOT" + struct.pack("<II", 2, 2))  # arch/boot_info.hpp: version, path
    expect(begin > 0 and struct.unpack_from("<I", memory, begin + 32) == (1,), "the boot information has no key")
    expect(memory[begin + 40:begin + 80] == bytes(40), "the boot information still holds the key")


@case(timeout_s=240)
def key_of_the_loader_that_is_none_sends_nothing(ctx):
    """Too short, too long, empty, or not the one that QEMU hands over: it is said, and no packet leaves."""
    key, pcap = key_file(ctx), ctx.dir / "wire.pcap"
    no_key = "\\remora.key is not 32 hexadecimal digits"
    for name, text, said, boot in (("short", KEY[1:], no_key, {}), ("long", KEY * 2, no_key, {}),
                                   ("empty", "", no_key, hands_over(key)),
                                   ("other", KEY[::-1], "opt/remora/key and \\remora.key differ", hands_over(key))):
        with ctx.collector(code=2):
            outcome = ctx.boot("control", boot="uefi", sink="udp", pcap=pcap, loader_key=key_file(ctx, name, text),
                               **boot)
        expect(said in outcome.expect_code(EXPORT_FAILED).serial, f"{name}: {outcome}")
        expect(packets(pcap) == (0, 0), f"{name}: {packets(pcap)} packets left")


@case
def key_that_is_refused_once_is_refused_for_the_run(ctx):
    """An application opens the network, is refused, and continues: nor does the end of the run send anything."""
    for boot in (hands_over(key_file(ctx, "bad", KEY[1:])), {"protocol": "v1", **hands_over(key_file(ctx))}):
        with ctx.collector(code=2) as session:
            outcome = ctx.boot("manual_example", sink="udp", **boot)
        expect(outcome.code != OK and "export failed: udp: " in outcome.serial, str(outcome))
        expect(not list(session.glob("*.dat")), f"a trace left without a MAC; {outcome}")


@case
def key_files_that_are_none_are_refused(ctx):
    """One sentence: which file, what is wrong, what helps; nothing of its content."""
    for path, words in ((key_file(ctx, "open", mode=0o644), "chmod 600"), (key_file(ctx, "short", KEY[1:]), "openssl"),
                        (key_file(ctx, "long", KEY + "0"), "openssl"), (key_file(ctx, "text", "x" * 32), "openssl"),
                        (ctx.dir / "none", "No such file"), (ctx.dir, "not a file")):
        done = ctx.remora("record", "--listen", "127.0.0.1:0", "--out", ctx.dir / "session", "--key", path, codes=(1,))
        expect(str(path) in done.stderr and words in done.stderr and KEY[1:9] not in done.stderr, done.stderr)


@case(timeout_s=180)
def key_of_a_make_run(ctx):
    """KEY=file is for both sides of the run."""
    done = ctx.run("make", "run", "DEPS=skip", f"OUT={ctx.dir}/out", f"PORT={ctx.port}", "BOOT=pvh",
                   f"KEY={key_file(ctx)}")
    expect("by udp, TRACER-V2.0, acknowledged" in done.stdout, done.stdout)
    done = ctx.run("make", "run", "DEPS=skip", f"OUT={ctx.dir}/out", f"KEY={ctx.dir}/none", codes=None)
    expect(done.returncode != 0 and "none does not exist" in done.stderr and "remedy" in done.stderr, done.stderr)
    done = ctx.run("make", "run", "DEPS=skip", f"OUT={ctx.dir}/out", f"KEY={key_file(ctx, 'open', mode=0o644)}",
                   codes=None)
    expect(done.returncode != 0 and "chmod 600" in done.stderr and "port" not in done.stderr, done.stderr)
