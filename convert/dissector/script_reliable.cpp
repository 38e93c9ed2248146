// SPDX-License-Identifier: MIT
// TRACER-V2.0 in the dissector: the header and the bodies as docs/trace-format.md lists them, the checksum, and which
// packet answers which. An answer repeats session, stream and time of sending of what it answers; both are found on the
// first pass, like the sequence of the data packets.
#include "convert/dissector/script.hpp"

namespace host::dissector {

const std::string_view kScriptReliable = R"lua(
local MAGIC_V2 = "TRACER-V2.0\0"
local HELLO, HELLO_ACK, DATA, ACK, FIN, FIN_ACK, UNKNOWN, ABORT = 1, 2, 3, 4, 5, 6, 7, 8
local REQUESTS = { [HELLO_ACK] = { HELLO }, [ACK] = { DATA }, [FIN_ACK] = { FIN }, [UNKNOWN] = { HELLO, DATA, FIN },
  [ABORT] = { HELLO, DATA, FIN } }
local FLAGS = { [HELLO] = { f.fresh }, [HELLO_ACK] = { f.only_cookie, f.ended, f.lost_before },
                [DATA] = { f.push, f.ask } }
local sessions = {}

local bit = bit or bit32
local CRC = {}
for i = 0, 255 do
  local value = i
  for _ = 1, 8 do
    local low = value % 2
    value = (value - low) / 2
    if low == 1 then value = bit.bxor(value, 0x82F63B78) % 2 ^ 32 end
  end
  CRC[i] = value
end

-- CRC-32C (Castagnoli), as iSCSI has it.
local function crc32c(bytes)
  local crc = 0xFFFFFFFF
  for i = 1, #bytes do
    local low = crc % 256
    crc = bit.bxor((crc - low) / 256, CRC[bit.bxor(low, bytes:byte(i))]) % 2 ^ 32
  end
  return 0xFFFFFFFF - crc
end

-- Of the whole packet, with the checksum and the MAC as zeros.
local function packet_crc(bytes)
  return crc32c(bytes:sub(1, 28) .. ("\0"):rep(4) .. bytes:sub(33, 56) .. ("\0"):rep(8) .. bytes:sub(65))
end

-- Names and texts are those of a session, the sequence is that of each of its streams.
local function reliable_stream(session, number)
  sessions[session] = sessions[session] or { names = {}, formats = {}, streams = {}, requests = {} }
  local of = sessions[session]
  of.streams[number] = of.streams[number] or { names = of.names, formats = of.formats, seen = {}, highest = 0 }
  return of.streams[number], of
end

local function has_flag(flags, place) return math.floor(flags / 2 ^ (place - 1)) % 2 == 1 end

local BODIES = {}

BODIES[HELLO] = function(tree, tvb)
  tree:add_le(f.cookie, tvb(64, 8))
  tree:add_le(f.hello_khz, tvb(72, 4))
  tree:add_le(f.format, tvb(76, 2))
end

BODIES[HELLO_ACK] = function(tree, tvb, flags)
  tree:add_le(f.cookie, tvb(64, 8))
  if has_flag(flags, 1) then
    tree:add_le(f.random, tvb(72, 8))
    return
  end
  tree:add_le(has_flag(flags, 3) and f.lost_packets or f.durable_crc, tvb(72, 4))
  tree:add_le(f.window, tvb(76, 4))
end

BODIES[ACK] = function(tree, tvb)
  local seq, unsafe = tvb(40, 8):le_uint64(), tvb(72, 4):le_uint()
  tree:add_le(f.received, tvb(64, 8))
  tree:add_le(f.not_durable, tvb(72, 4))
  tree:add_le(f.window, tvb(76, 4))
  tree:add(f.durable, tvb(72, 4), seq - UInt64.new(unsafe)):set_generated()
  return ", window " .. tvb(76, 4):le_uint()
end

BODIES[FIN] = function(tree, tvb)
  tree:add_le(f.total_bytes, tvb(64, 8))
  tree:add_le(f.total_crc, tvb(72, 4))
  tree:add_le(f.total_streams, tvb(76, 4))
end
BODIES[FIN_ACK] = BODIES[FIN]

BODIES[ABORT] = function(tree, tvb)
  tree:add_le(f.reason, tvb(64, 8))
end

-- First pass: what this packet answers, or that it may be answered.
local function match(session, stream, type, stamp, totals, pinfo, found)
  local key = function(of) return stream .. " " .. of .. " " .. stamp end
  for _, of in ipairs(REQUESTS[type] or {}) do
    local request = session.requests[key(of)]
    if request then
      found.answers, found.after = request.frame, pinfo.rel_ts - request.time
      found.differs = type == FIN_ACK and request.totals ~= totals
      findings[request.frame].answered = findings[request.frame].answered or pinfo.number
    end
  end
  if not REQUESTS[type] then
    session.requests[key(type)] = { frame = pinfo.number, time = pinfo.rel_ts, totals = totals }
  end
end

local function show_answers(tree, found)
  if found.answers then
    tree:add(f.answers, found.answers):set_generated()
    tree:add(f.after, found.after):set_generated()
  end
  if found.answered then tree:add(f.answered, found.answered):set_generated() end
  if found.differs then tree:add_proto_expert_info(e.totals) end
end

-- The header. Returns type, flags, stream and whether the sizes fit each other and the datagram.
local function show_header(tree, tvb, reported)
  local number, records, size = tvb(12, 4):le_uint(), tvb(16, 4):le_uint(), tvb(20, 4):le_uint()
  local type, flags, stream = tvb(24, 1):uint(), tvb(25, 1):uint(), tvb(26, 2):le_uint()
  tree:add(f.version, tvb(0, 12), "TRACER-V2.0")
  tree:add_le(f.number, tvb(12, 4))
  tree:add_le(f.records, tvb(16, 4))
  tree:add_le(f.size, tvb(20, 4))
  tree:add(f.type, tvb(24, 1))
  local item = tree:add(f.flags, tvb(25, 1))
  for place, field in ipairs(FLAGS[type] or {}) do item:add(field, tvb(25, 1), has_flag(flags, place)) end
  tree:add_le(f.stream, tvb(26, 2))
  tree:add_le(f.session, tvb(32, 8))
  tree:add_le(f.seq, tvb(40, 8))
  tree:add_le(f.sent, tvb(48, 8))
  tree:add_le(f.mac, tvb(56, 8))
  local low = tvb(40, 4):le_uint()
  local fits = type == DATA and records >= 1 and records <= RELIABLE_MAX and number == (low + 1) % 2 ^ 32 and
    size == RELIABLE_HEADER + records * SLOT or
    type ~= DATA and TYPES_V2[type] and records == 0 and number == 0 and size == RELIABLE_HEADER + SLOT
  return type, flags, stream, fits and size == reported and stream < 64
end

-- False if it is there and wrong, nil if not all of the packet was captured.
local function show_crc(tree, tvb, captured, reported)
  local item = tree:add_le(f.crc, tvb(28, 4))
  if captured < reported then return nil end
  local computed = packet_crc(tvb:raw())
  local good = computed == tvb(28, 4):le_uint()
  tree:add(f.crc_good, tvb(28, 4), good):set_generated()
  if not good then
    item:add_proto_expert_info(e.crc, string.format("The checksum of these bytes is 0x%08x", computed))
  end
  return good
end

local function dissect_reliable(tvb, pinfo, tree, captured, reported)
  if captured < RELIABLE_HEADER then
    pinfo.cols.info = "Trace packet, cut inside its header"
    tree:add_proto_expert_info(captured < reported and e.cut or e.mismatch)
    return captured
  end
  local type, flags, number, fits = show_header(tree, tvb, reported)
  local good = show_crc(tree, tvb, captured, reported)
  if captured < reported then tree:add_proto_expert_info(e.cut) end
  if not fits then tree:add_proto_expert_info(e.mismatch) end
  local sound, seq = fits and good ~= false, tvb(40, 8):le_uint64()
  local stream, session = reliable_stream(tostring(tvb(32, 8):le_uint64()), number)
  local frame, first_pass = pinfo.number, not pinfo.visited
  if first_pass then
    local place = seq:tonumber() + 1
    findings[frame] = sound and type == DATA and follow(stream, place, frame, "") or {}
    if sound and type == DATA and stream.open and stream.open_number == place - 1 then
      findings[frame].carry = stream.open
    end
    if sound then
      match(session, number, type, tostring(tvb(48, 8):le_uint64()), captured >= 80 and tvb:raw(64, 16), pinfo,
        findings[frame])
    end
  end
  local found = findings[frame] or {}
  show_findings(tree, found)
  show_answers(tree, found)
  local name = TYPES_V2[type] or "type " .. type
  local text = string.format("%s stream %d seq %s", name, number, tostring(seq))
  if type == DATA then
    local records = tvb(16, 4):le_uint()
    local count = math.min(records, math.floor((captured - RELIABLE_HEADER) / SLOT))
    tree:add(f.shown, count):set_generated()
    local event, open = walk(tree, tvb, count, stream, first_pass and sound, found.carry, RELIABLE_HEADER)
    if first_pass and sound and count == records and not found.duplicate then
      stream.open, stream.open_number = open, seq:tonumber() + 1
    end
    text = string.format("%s, %d records%s", text, count, event and ": " .. event or "")
  elseif BODIES[type] and captured >= RELIABLE_HEADER + SLOT then
    text = text .. (BODIES[type](tree, tvb, flags) or "")
  end
  pinfo.cols.info = text
  return captured
end
)lua";

} // namespace host::dissector
