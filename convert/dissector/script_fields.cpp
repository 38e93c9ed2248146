// SPDX-License-Identifier: MIT
// What the dissector shows: its fields, expert infos and preferences. Source: Wireshark Developer's Guide, "Lua API
// Reference".
#include "convert/dissector/script.hpp"

namespace host::dissector {

const std::string_view kScriptFields = R"lua(
local remora = Proto("remora", "Remora trace packet")

local COMBINE = { [0] = "single", [1] = "first", [2] = "middle", [3] = "last" }
local EVENT_NAMES = {}
for code, row in pairs(EVENTS) do EVENT_NAMES[code] = row[1] end
local RESULTS = { [0] = "unknown", [1] = "completed", [2] = "failed", [3] = "panicked" }
local TYPES_V2 = { [1] = "HELLO", [2] = "HELLO_ACK", [3] = "DATA", [4] = "ACK", [5] = "FIN", [6] = "FIN_ACK",
  [7] = "UNKNOWN", [8] = "ABORT" }
local REASONS = { [1] = "too many sessions", [2] = "the store" }
local ENCODINGS = { [0] = "records", [1] = "compact" }

local f = {
  version = ProtoField.string("remora.version", "Version"),
  number = ProtoField.uint32("remora.number", "Packet number"),
  records = ProtoField.uint32("remora.records", "Records"),
  size = ProtoField.uint32("remora.size", "Size of the datagram"),
  gap = ProtoField.uint32("remora.gap", "Packets missing before this one"),
  previous = ProtoField.framenum("remora.previous", "Packet before", base.NONE),
  duplicate = ProtoField.framenum("remora.duplicate", "Same number as", base.NONE),
  type = ProtoField.uint8("remora.type", "Type", base.DEC, TYPES_V2),
  flags = ProtoField.uint8("remora.flags", "Flags", base.HEX),
  push = ProtoField.bool("remora.flags.push", "The answer shall say what is durable"),
  ask = ProtoField.bool("remora.flags.ask", "Nothing follows until this is answered"),
  fresh = ProtoField.bool("remora.flags.fresh", "Nothing of this session has been acknowledged"),
  only_cookie = ProtoField.bool("remora.flags.cookie", "Only a cookie, no session yet"),
  ended = ProtoField.bool("remora.flags.ended", "The session has ended"),
  lost_before = ProtoField.bool("remora.flags.lost", "Packets before seq are lost"),
  stream = ProtoField.uint16("remora.stream", "Stream (processor)"),
  crc = ProtoField.uint32("remora.crc", "CRC-32C of the packet", base.HEX),
  crc_good = ProtoField.bool("remora.crc.good", "The checksum is right"),
  session = ProtoField.uint64("remora.session", "Session", base.HEX),
  seq = ProtoField.uint64("remora.seq", "Sequence number"),
  sent = ProtoField.uint64("remora.sent", "Sent, by the guest's clock, in ns"),
  mac = ProtoField.uint64("remora.mac", "MAC (not checked: the key is not known)", base.HEX),
  cookie = ProtoField.uint64("remora.cookie", "Cookie", base.HEX),
  hello_khz = ProtoField.uint32("remora.hello.tsc_khz", "Clock rate in kHz"),
  format = ProtoField.uint16("remora.hello.format", "Format version of the chunks"),
  random = ProtoField.uint64("remora.random", "Random number", base.HEX),
  durable_crc = ProtoField.uint32("remora.durable_crc", "CRC-32C of what is durable", base.HEX),
  lost_packets = ProtoField.uint32("remora.lost", "Packets that are lost"),
  window = ProtoField.uint32("remora.window", "Packets that may be sent beyond seq"),
  received = ProtoField.uint64("remora.ack.received", "Received beyond seq: bit i is packet seq + 1 + i", base.HEX),
  not_durable = ProtoField.uint32("remora.ack.not_durable", "Of the packets before seq, not durable yet"),
  durable = ProtoField.uint64("remora.ack.durable", "Packets that are durable"),
  total_bytes = ProtoField.uint64("remora.fin.bytes", "Bytes of the stream"),
  total_crc = ProtoField.uint32("remora.fin.crc", "CRC-32C of the stream", base.HEX),
  total_streams = ProtoField.uint32("remora.fin.streams", "Streams of the session"),
  reason = ProtoField.uint64("remora.abort.reason", "Reason", base.DEC, REASONS),
  answers = ProtoField.framenum("remora.answers", "Answers", base.NONE, frametype.REQUEST),
  answered = ProtoField.framenum("remora.answered", "Answered in", base.NONE, frametype.RESPONSE),
  after = ProtoField.double("remora.answer_time", "Seconds after what it answers"),
  shown = ProtoField.uint32("remora.shown", "Records in what was captured"),
  record = ProtoField.none("remora.record", "Record"),
  code = ProtoField.uint16("remora.record.code", "Code", base.HEX),
  event = ProtoField.uint16("remora.record.event", "Event", base.HEX, EVENT_NAMES, 0x00FF),
  combine = ProtoField.uint16("remora.record.slot", "Slot of a long event", base.DEC, COMBINE, 0x3000),
  fast = ProtoField.bool("remora.record.fast", "Logged past the filters", 16, nil, 0x8000),
  name = ProtoField.string("remora.record.name", "Name"),
  family = ProtoField.string("remora.record.family", "Family"),
  tsc = ProtoField.uint64("remora.record.tsc", "Time stamp counter"),
  delta = ProtoField.int64("remora.record.delta", "Ticks since the record before"),
  par1 = ProtoField.uint16("remora.record.par1", "par1"),
  par2 = ProtoField.uint32("remora.record.par2", "par2"),
  parameters = ProtoField.string("remora.record.parameters", "Parameters"),
  text = ProtoField.string("remora.record.text", "Text"),
  payload = ProtoField.bytes("remora.record.payload", "Payload of the long event"),
  chunk = ProtoField.uint16("remora.chunk", "Chunk"),
  cpu = ProtoField.uint16("remora.chunk.cpu", "Processor"),
  generation = ProtoField.uint32("remora.chunk.generation", "Generation"),
  preamble = ProtoField.uint32("remora.chunk.preamble", "Slots of metadata"),
  chunk_records = ProtoField.uint32("remora.chunk.records", "Records after the metadata"),
  khz = ProtoField.uint32("remora.chunk.tsc_khz", "Clock rate in kHz"),
  dropped = ProtoField.uint64("remora.chunk.dropped", "Records dropped"),
  refused = ProtoField.uint64("remora.chunk.refused", "Records refused"),
  overwritten = ProtoField.uint64("remora.chunk.overwritten", "Records overwritten"),
  boot = ProtoField.uint64("remora.chunk.boot_id", "Run", base.HEX),
  encoding = ProtoField.uint8("remora.chunk.encoding", "Encoding", base.DEC, ENCODINGS),
  named_id = ProtoField.uint16("remora.name.id", "Number"),
  named = ProtoField.string("remora.name", "Name given"),
  end_chunks = ProtoField.uint32("remora.end.chunks", "Chunks sent"),
  end_result = ProtoField.uint8("remora.end.result", "Result", base.DEC, RESULTS),
  end_records = ProtoField.uint64("remora.end.records", "Records sent"),
  end_dropped = ProtoField.uint64("remora.end.dropped", "Records dropped"),
  end_refused = ProtoField.uint64("remora.end.refused", "Records refused"),
  end_overwritten = ProtoField.uint64("remora.end.overwritten", "Records overwritten"),
}
remora.fields = f

local e = {
  gap = ProtoExpert.new("remora.expert.gap", "Packets are missing before this one", expert.group.SEQUENCE,
    expert.severity.WARN),
  late = ProtoExpert.new("remora.expert.late", "Packet out of order", expert.group.SEQUENCE, expert.severity.NOTE),
  duplicate = ProtoExpert.new("remora.expert.duplicate", "Packet number seen before", expert.group.SEQUENCE,
    expert.severity.NOTE),
  cut = ProtoExpert.new("remora.expert.cut", "Cut short: not all of it was captured", expert.group.MALFORMED,
    expert.severity.ERROR),
  mismatch = ProtoExpert.new("remora.expert.length", "The lengths in the header contradict each other or the datagram",
    expert.group.MALFORMED, expert.severity.ERROR),
  version = ProtoExpert.new("remora.expert.version", "Version not known: nothing but the version is shown",
    expert.group.UNDECODED, expert.severity.WARN),
  magic = ProtoExpert.new("remora.expert.magic", "No trace packet", expert.group.MALFORMED, expert.severity.ERROR),
  crc = ProtoExpert.new("remora.expert.crc", "The checksum is wrong", expert.group.CHECKSUM, expert.severity.ERROR),
  totals = ProtoExpert.new("remora.expert.totals", "The collector holds another stream than was sent",
    expert.group.SEQUENCE, expert.severity.ERROR),
  unknown = ProtoExpert.new("remora.expert.unknown", "Code in no row of the event table", expert.group.UNDECODED,
    expert.severity.NOTE),
  metadata = ProtoExpert.new("remora.expert.long", "Long event that cannot be decoded", expert.group.MALFORMED,
    expert.severity.WARN),
  time = ProtoExpert.new("remora.expert.time", "The stamp falls", expert.group.SEQUENCE, expert.severity.NOTE),
  last = ProtoExpert.new("remora.expert.end", "End of the export", expert.group.SEQUENCE, expert.severity.CHAT),
}
remora.experts = {}
for _, value in pairs(e) do table.insert(remora.experts, value) end

remora.prefs.port = Pref.uint("UDP port", PORT, "Packets to or from this port are taken for trace packets")
remora.prefs.show = Pref.bool("Show records", true, "A subtree for each record")
remora.prefs.most = Pref.uint("Most records shown", RECORDS_MAX, "Of each packet; the others are only counted")
)lua";

} // namespace host::dissector
