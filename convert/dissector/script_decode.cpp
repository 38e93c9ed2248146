// SPDX-License-Identifier: MIT
// Long events in the dissector: their payloads as docs/trace-format.md lists them, and the names that they give to
// numbers. Payloads are Lua strings; a payload that is too short decodes to nothing.
#include "convert/dissector/script.hpp"

namespace host::dissector {

const std::string_view kScriptDecode = R"lua(
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

-- One number after the other: { field, bytes } adds it, { nil, bytes } passes over it. Wide ones are UInt64. False if
-- the payload ends before the list does.
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

-- The name in a naming event: number, text; nil if it is cut.
local function naming_of(text)
  local id, size = number_at(text, 1, 2), number_at(text, 3, 1)
  if not id or not size or 3 + size > #text then return nil end
  return id, text:sub(4, 3 + size)
end

-- Of the texts of trace_printf those that the trace has in itself, else those of the image that ran, if the script was
-- written with it.
local function format_of(stream, id)
  return stream.formats[id] or (stream.image == IMAGE and FORMATS[id]) or nil
end

-- The build id of the image, after three names and the seed of the workload.
local function image_of(text)
  local at = 1
  for _ = 1, 3 do at = at + 1 + (text:byte(at) or 0) end
  local low, high = number_at(text, at + 8, 4), number_at(text, at + 12, 4)
  return low and high and string.format("%08x%08x", high, low)
end

-- An IEEE 754 number of so many bits of exponent and fraction. high: the upper word, or the only one; low: 0 then.
local function float_of(high, low, exponent_bits, fraction_bits)
  local sign, most = high >= 2 ^ 31 and -1 or 1, 2 ^ exponent_bits - 1
  local bits = high % 2 ^ 31 / 2 ^ (31 - exponent_bits)
  local exponent = math.floor(bits)
  local fraction = bits - exponent + low / 2 ^ fraction_bits
  if exponent == most then return fraction == 0 and sign / 0 or 0 / 0 end
  local bias = (most - 1) / 2
  return sign * (exponent == 0 and fraction * 2 ^ (1 - bias) or (1 + fraction) * 2 ^ (exponent - bias))
end

-- The argument of a type at this place, and the place after it; nil if it is cut.
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

-- The text of a formatted event: number of the format, then a type and a value for each argument; nil if one is cut.
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

-- The fields after the length word; nil if the length is invalid.
local function fields_of(joined)
  local length = number_at(joined, 1, 2)
  if not length or length < 2 or length > #joined then return nil end
  return joined:sub(3, length)
end

-- Shows a whole long event; false if it cannot be decoded.
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
)lua";

} // namespace host::dissector
