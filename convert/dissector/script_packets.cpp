// SPDX-License-Identifier: MIT
// Packets in the dissector. What the packets before it say about a packet (gaps, duplicates) is found on the first
// pass, when packets come in their order, and kept by frame; later passes show it again.
#include "convert/dissector/script.hpp"

namespace host::dissector {

const std::string_view kScriptSequence = R"lua(
local findings = {}

-- What the number says about the packets before. An export begins with number 1: another packet 1 with other bytes is
-- another export.
local function follow(stream, number, frame, bytes)
  local found = {}
  if number == 1 and stream.first and stream.first ~= bytes then
    stream.seen, stream.highest, stream.frame = {}, 0, nil
  end
  if number == 1 then stream.first = bytes end
  if stream.seen[number] then
    found.duplicate = stream.seen[number]
  else
    stream.seen[number] = frame
    if number > stream.highest then
      if number > stream.highest + 1 then found.gap = number - stream.highest - 1 end
      found.previous = stream.frame
      stream.highest, stream.frame = number, frame
    else
      found.late = true
    end
  end
  return found
end

local function show_findings(tree, found)
  if found.previous then tree:add(f.previous, found.previous):set_generated() end
  if found.gap then
    tree:add(f.gap, math.min(found.gap, 0xFFFFFFFF)):set_generated()
    tree:add_proto_expert_info(e.gap, found.gap .. " packets are missing before this one")
  end
  if found.late then tree:add_proto_expert_info(e.late) end
  if found.duplicate then
    tree:add(f.duplicate, found.duplicate):set_generated()
    tree:add_proto_expert_info(e.duplicate)
  end
end
)lua";

const std::string_view kScriptPackets = R"lua(
local MAGIC_V1, MAGIC = "TRACER-V1.0\0", "TRACER-V"
local streams = {}

function remora.init()
  streams, sessions, findings = {}, {}, {}
end

local function stream_of(pinfo)
  local key = tostring(pinfo.src) .. " " .. pinfo.src_port .. " " .. tostring(pinfo.dst) .. " " .. pinfo.dst_port
  streams[key] = streams[key] or { names = {}, formats = {}, seen = {}, highest = 0 }
  return streams[key]
end

function remora.dissector(tvb, pinfo, root)
  local captured, reported = tvb:captured_len(), tvb:reported_len()
  pinfo.cols.protocol = "REMORA"
  local tree = root:add(remora, tvb())
  if captured < HEADER then
    pinfo.cols.info = "Trace packet, cut inside its header"
    tree:add_proto_expert_info(captured < reported and e.cut or e.magic)
    return captured
  end
  local magic = tvb:raw(0, 12)
  if magic == MAGIC_V2 then return dissect_reliable(tvb, pinfo, tree, captured, reported) end
  if magic ~= MAGIC_V1 then
    local known = magic:sub(1, #MAGIC) == MAGIC
    pinfo.cols.info = known and "Trace packet of another version" or "No trace packet"
    if known then tree:add(f.version, tvb(0, 12), (magic:gsub("%z.*", ""))) end
    tree:add_proto_expert_info(known and e.version or e.magic)
    return captured
  end
  local number, records, size = tvb(12, 4):le_uint(), tvb(16, 4):le_uint(), tvb(20, 4):le_uint()
  tree:add(f.version, tvb(0, 12), "TRACER-V1.0")
  tree:add_le(f.number, tvb(12, 4))
  tree:add_le(f.records, tvb(16, 4))
  tree:add_le(f.size, tvb(20, 4))
  if captured < reported then tree:add_proto_expert_info(e.cut) end
  local honest = size == reported and size == HEADER + records * SLOT and records <= RECORDS_MAX
  if not honest then tree:add_proto_expert_info(e.mismatch) end
  local count = math.min(records, math.floor((captured - HEADER) / SLOT))
  tree:add(f.shown, count):set_generated()

  local stream, frame = stream_of(pinfo), pinfo.number
  local first_pass = not pinfo.visited
  -- A packet with an invalid header is ignored for the sequence: its number may be invalid, too.
  if first_pass then findings[frame] = honest and follow(stream, number, frame, tvb:raw()) or {} end
  local found = findings[frame] or {}
  if first_pass and honest and stream.open and stream.open_number == number - 1 then found.carry = stream.open end
  show_findings(tree, found)
  local event, open = walk(tree, tvb, count, stream, first_pass, found.carry, HEADER)
  if first_pass and honest and count == records then stream.open, stream.open_number = open, number end
  pinfo.cols.info = string.format("Packet %d, %d records%s", number, records, event and ": " .. event or "")
  return captured
end

-- On other ports: only what carries the magic.
local function heuristic(tvb, pinfo, root)
  local magic = tvb:captured_len() >= HEADER and tvb:raw(0, 12)
  if magic ~= MAGIC_V1 and magic ~= MAGIC_V2 then return false end
  pinfo.conversation = remora
  remora.dissector(tvb, pinfo, root)
  return true
end

remora:register_heuristic("udp", heuristic)
local udp = DissectorTable.get("udp.port")
local port = PORT
udp:add(port, remora)

function remora.prefs_changed()
  if port ~= remora.prefs.port then
    udp:remove(port, remora)
    port = remora.prefs.port
    udp:add(port, remora)
  end
end
)lua";

} // namespace host::dissector
