-- SPDX-License-Identifier: MIT
-- The part of the dissector that follows the tables of dissector.cpp. Source: Wireshark Developer's Guide, "Lua API
-- Reference"; docs/trace-format.md lists the headers, bodies and payloads. Nothing beyond the captured bytes is read.

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

local function number_at(text, at, bytes)
  if at + bytes - 1 > #text then return nil end
  local value = 0
  for i = at + bytes - 1, at, -1 do value = value * 256 + text:byte(i) end
  return value
end

local function wide_at(text, at)
  local low, high = number_at(text, at, 4), number_at(text, at + 4, 4)
  if not low or not high then return nil end
  return UInt64.new(low, high)
end

-- Reads one number after the other: { field, bytes } adds it, { nil, bytes } skips it. Wide numbers are UInt64. Returns
-- false if the payload ends before the list.
local function add_numbers(tree, range, text, list)
  local at = 1
  for _, item in ipairs(list) do
    local value
    if item[2] == 8 then value = wide_at(text, at) else value = number_at(text, at, item[2]) end
    if not value then return false end
    if item[1] then tree:add(item[1], range, value) end
    at = at + item[2]
  end
  return true
end

local CHUNK_BEGIN = {
  { nil, 2 }, { f.chunk, 2 }, { f.cpu, 2 }, { nil, 2 }, { f.generation, 4 }, { f.preamble, 4 }, { f.chunk_records, 4 },
  { f.khz, 4 }, { nil, 2 }, { nil, 4 }, { f.dropped, 8 }, { f.refused, 8 }, { f.overwritten, 8 }, { f.boot, 8 },
}
local EXPORT_END = {
  { f.end_chunks, 4 }, { f.end_result, 1 }, { f.end_records, 8 }, { f.end_dropped, 8 }, { f.end_refused, 8 },
  { f.end_overwritten, 8 },
}
-- event -> unit of the number that gets the name
local NAMING = {
  task_name = "context", interrupt_name = "vector", mutex_name = "mutex", semaphore_name = "semaphore",
  condition_name = "condition", port_name = "port", server_name = "server", level_name = "level",
}

-- Returns number and text of a naming event; nil if it is cut.
local function naming_of(text)
  local id, size = number_at(text, 1, 2), number_at(text, 3, 1)
  if not id or not size or 3 + size > #text then return nil end
  return id, text:sub(4, 3 + size)
end

-- Returns a text of trace_printf from the trace, else from the image that ran, if the script was written with it.
local function format_of(stream, id)
  return stream.formats[id] or (stream.image == IMAGE and FORMATS[id]) or nil
end

-- Returns the build id of the image, which follows three names and the seed of the workload.
local function image_of(text)
  local at = 1
  for _ = 1, 3 do at = at + 1 + (text:byte(at) or 0) end
  local low, high = number_at(text, at + 8, 4), number_at(text, at + 12, 4)
  return low and high and string.format("%08x%08x", high, low)
end

-- Returns an IEEE 754 number with these sizes of exponent and fraction in bits. high: the upper word, or the only one,
-- with low 0.
local function float_of(high, low, exponent_bits, fraction_bits)
  local sign, most = high >= 2 ^ 31 and -1 or 1, 2 ^ exponent_bits - 1
  local bits = high % 2 ^ 31 / 2 ^ (31 - exponent_bits)
  local exponent = math.floor(bits)
  local fraction = bits - exponent + low / 2 ^ fraction_bits
  if exponent == most then return fraction == 0 and sign / 0 or 0 / 0 end
  local bias = (most - 1) / 2
  return sign * (exponent == 0 and fraction * 2 ^ (1 - bias) or (1 + fraction) * 2 ^ (exponent - bias))
end

-- Returns the argument of a type at this position, and the position after it; nil if it is cut.
local function argument_at(text, at, kind, bytes)
  if kind == "text" then
    local size = text:byte(at)
    if not size or at + size > #text then return nil end
    return text:sub(at + 1, at + size), at + 1 + size
  end
  local low, high = number_at(text, at, math.min(bytes, 4)), bytes == 8 and number_at(text, at + 4, 4) or 0
  if not low or not high then return nil end
  local value = low
  if kind == "float" then
    value = bytes == 4 and float_of(low, 0, 8, 23) or float_of(high, low, 11, 52)
  elseif bytes == 8 then
    value = kind == "signed" and Int64.new(low, high) or UInt64.new(low, high)
  elseif kind == "signed" and low >= 2 ^ (8 * bytes - 1) then
    value = low - 2 ^ (8 * bytes)
  end
  return value, at + bytes
end

-- Returns the text of a formatted event, which has the number of the format, then a type and a value for each argument;
-- nil if one is cut.
local function formatted(stream, text)
  local id, values, at = number_at(text, 1, 4), {}, 5
  while id and at <= #text do
    local kind = TYPES[text:byte(at)]
    if not kind then return nil end
    values[#values + 1], at = argument_at(text, at + 1, kind[1], kind[2])
    if not at then return nil end
  end
  if not id then return nil end
  local format = format_of(stream, id)
  if not format then
    for i, value in ipairs(values) do values[i] = " " .. tostring(value) end
    return "format " .. id .. ":" .. table.concat(values)
  end
  local used = 0
  return (format:gsub("%%([-+ #0]*)(%d*)(%.?%d*)([%a%%])", function(flags, width, precision, letter)
    if letter == "%" then return "%" end
    used = used + 1
    local value = values[used]
    if value == nil then return "?" end
    if letter == "c" then value = string.char(value) end
    if letter == "p" or (letter:find("[xX]") and type(value) == "userdata") then
      value = (letter == "p" and "0x" or "") .. value:tohex():gsub("^0+(.)", "%1")
    end
    if type(value) ~= "number" then letter, value = "s", tostring(value) end
    if letter == "u" or letter == "i" then letter = "d" end
    local good, shown = pcall(string.format, "%" .. flags .. width .. precision .. letter, value)
    return good and shown or tostring(value)
  end))
end

local function learn(stream, event, text)
  if event == "build" then stream.image = image_of(text) end
  if event == "format_text" and #text > 4 then stream.formats[number_at(text, 1, 4)] = text:sub(5) end
  local unit = NAMING[event]
  local id, name = nil, nil
  if unit then id, name = naming_of(text) end
  if id then
    stream.names[unit] = stream.names[unit] or {}
    stream.names[unit][id] = name
  end
end

-- Returns the fields after the length word; nil if the length is invalid.
local function fields_of(joined)
  local length = number_at(joined, 1, 2)
  if not length or length < 2 or length > #joined then return nil end
  return joined:sub(3, length)
end

-- Shows a whole long event; returns false if it cannot be decoded.
local function show_long(tree, range, event, text, stream)
  if event == "chunk_begin" then
    local whole = add_numbers(tree, range, text, CHUNK_BEGIN)
    local encoding = number_at(text, 65, 1)
    if encoding then tree:add(f.encoding, range, encoding) end
    return whole
  end
  if event == "export_end" then
    local whole = add_numbers(tree, range, text, EXPORT_END)
    tree:add_proto_expert_info(e.last)
    return whole
  end
  if event == "formatted_event" then
    local shown = formatted(stream, text)
    if not shown then return false end
    tree:add(f.text, range, shown):set_generated()
    tree:append_text(shown)
  end
  if NAMING[event] then
    local id, name = naming_of(text)
    if not id then return false end
    tree:add(f.named_id, range, id)
    tree:add(f.named, range, name)
  end
  return true
end

local function bit_range(value, low, count) -- value is a whole number below 2^16
  return math.floor(value / 2 ^ low) % 2 ^ count
end

local function word(words, number) return words[number] or tostring(number) end

local function name_of(stream, unit, value)
  local names = stream.names[unit]
  return names and names[value]
end

-- Returns the meaning of a value, or nil if it has none beyond the number.
local function meaning(stream, unit, value)
  local words = WORDS[unit]
  if not words then return name_of(stream, unit, value) end
  local high, low = math.floor(value / words[2]), value % words[2]
  if unit == "wait" then
    local kind, object = word(words[1], high), WAIT_OBJECTS[high]
    return object and kind .. " " .. (name_of(stream, object, low) or "#" .. low) or kind
  end
  if words[3] then return word(words[1], high) .. ", " .. word(words[3], low) end
  return words[1][high]
end

local function parameter(stream, name, unit, value)
  if unit == "none" then return nil end
  local words = WORDS[unit]
  local shown
  if unit == "pointer" or unit == "hexadecimal" or unit == "code" then
    shown = string.format("0x%x", value)
  elseif words and words[2] > 1 then
    shown = string.format("%d/%d", math.floor(value / words[2]), value % words[2])
  else
    shown = string.format("%d", value)
  end
  local known = meaning(stream, unit, value)
  return name .. "=" .. shown .. (known and known ~= "" and " (" .. known .. ")" or "")
end

local function parameters_of(stream, row, par1, par2)
  if not row or row[6] ~= "simple" then return "" end
  local first, second = parameter(stream, row[2], row[3], par1), parameter(stream, row[4], row[5], par2)
  return (first or "") .. (first and second and " " or "") .. (second or "")
end

-- Follows the slots of long events. Returns the joined payload with the last slot, "open" while more slots follow,
-- "broken" for a slot without its beginning, nil for a simple record.
local function join(state, row, code, combine, stamp, six)
  local single = combine == 0
  if single then
    state.code = nil
    return row and row[6] == "long" and six or nil
  end
  if combine == 1 then
    state.code, state.stamp, state.joined, state.slots = code, stamp, six, 1
    return "open"
  end
  if state.code ~= code or state.stamp ~= stamp or state.slots >= 64 then
    state.code = nil
    return "broken"
  end
  state.joined, state.slots = state.joined .. six, state.slots + 1
  if combine == 2 then return "open" end
  state.code = nil
  return state.joined
end

local function show_record(tree, tvb, at, index, stream, state, row, raw)
  local code = raw % 256
  local range = tvb(at, SLOT)
  local par1, par2 = tvb(at + 2, 2):le_uint(), tvb(at + 12, 4):le_uint()
  local stamp = UInt64.new(tvb(at + 8, 4):le_uint(), tvb(at + 4, 4):le_uint())
  local name = row and row[1] or "unknown"
  local parameters = parameters_of(stream, row, par1, par2)
  local item = tree:add(f.record, range)
  item:set_text(string.format("Record %d: %s %s", index, name, parameters))
  item:add_le(f.code, tvb(at, 2))
  item:add_le(f.event, tvb(at, 2))
  item:add_le(f.combine, tvb(at, 2))
  item:add_le(f.fast, tvb(at, 2))
  item:add(f.name, tvb(at, 2), name):set_generated()
  item:add(f.family, tvb(at, 2), FAMILIES[code % 16]):set_generated()
  item:add(f.tsc, tvb(at + 4, 8), stamp)
  if state.last then
    local delta = Int64.new(stamp:lower(), stamp:higher()) - Int64.new(state.last:lower(), state.last:higher())
    item:add(f.delta, tvb(at + 4, 8), delta):set_generated()
    -- A chunk's metadata has the stamp of its first record plus a few ticks.
    if stamp < state.last and not state.metadata then item:add_proto_expert_info(e.time) end
  end
  item:add_le(f.par1, tvb(at + 2, 2))
  item:add_le(f.par2, tvb(at + 12, 4))
  if parameters ~= "" then item:add(f.parameters, range, parameters):set_generated() end
  if not row and code ~= 0 then item:add_proto_expert_info(e.unknown) end
  state.last = stamp
  state.metadata = code % 16 == 12 or code == 0x10 or code == 0x60 or code == 0x70
  return item
end

-- Shows the records of a packet. Names are stored on the first pass, whether records are shown or not. Returns the name
-- of the first event, and the long event that is still open.
local function walk(tree, tvb, count, stream, first_pass, carry, header)
  local state, first_event = {}, nil
  for key, value in pairs(carry or {}) do state[key] = value end
  for index = 0, count - 1 do
    local at = header + index * SLOT
    local raw = tvb(at, 2):le_uint()
    local code, combine = raw % 256, bit_range(raw, 12, 2)
    local row = EVENTS[code]
    first_event = first_event or (row and row[1]) or "unknown"
    local shown = remora.prefs.show and index < remora.prefs.most
    local item = shown and show_record(tree, tvb, at, index, stream, state, row, raw)
    if combine ~= 0 or (row and row[6] == "long") then
      local six = tvb:raw(at + 2, 2) .. tvb:raw(at + 12, 4)
      local joined = join(state, row, code, combine, tvb:raw(at + 4, 8), six)
      if joined == "broken" then
        -- The beginning is in a packet that is missing.
        if item then item:append_text(" (its beginning is missing)") end
      elseif joined and joined ~= "open" then
        local text = fields_of(joined)
        if text and first_pass then learn(stream, row and row[1], text) end
        local good = text ~= nil
        if item and text then
          if #text > 0 then item:add(f.payload, tvb(at, SLOT), ByteArray.new(text, true):raw()) end
          good = show_long(item, tvb(at, SLOT), row and row[1], text, stream)
        end
        if item and not good then item:add_proto_expert_info(e.metadata) end
      end
    end
  end
  local open = state.code and { code = state.code, stamp = state.stamp, joined = state.joined, slots = state.slots }
  return first_event, open
end

local findings = {}

-- Returns what the number reveals about earlier packets. An export begins with number 1, so a packet 1 with other bytes
-- begins another export.
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

-- CRC-32C (Castagnoli), as in iSCSI.
local function crc32c(bytes)
  local crc = 0xFFFFFFFF
  for i = 1, #bytes do
    local low = crc % 256
    crc = bit.bxor((crc - low) / 256, CRC[bit.bxor(low, bytes:byte(i))]) % 2 ^ 32
  end
  return 0xFFFFFFFF - crc
end

-- Returns the checksum of the whole packet, with zeros for checksum and MAC.
local function packet_crc(bytes)
  return crc32c(bytes:sub(1, 28) .. ("\0"):rep(4) .. bytes:sub(33, 56) .. ("\0"):rep(8) .. bytes:sub(65))
end

-- Names and texts belong to a session, the sequence to each of its streams.
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

-- On the first pass, stores which packet this one answers, or that it may be answered.
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

-- Shows the header. Returns type, flags, stream, and whether the sizes fit each other and the datagram.
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

-- Returns false if the checksum is present and wrong, nil if the packet was not captured as a whole.
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

-- On other ports only packets with the magic number are accepted.
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
