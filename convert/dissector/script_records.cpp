// SPDX-License-Identifier: MIT
// Records in the dissector. Each is 16 bytes; nothing is read beyond what was captured. The slots of a long event are
// joined; one that continues in the next packet is finished there, if that is the next one in number.
#include "convert/dissector/script.hpp"

namespace host::dissector {

const std::string_view kScriptRecords = R"lua(
local function bit_range(value, low, count) -- value is a whole number below 2^16
  return math.floor(value / 2 ^ low) % 2 ^ count
end

local function word(words, number) return words[number] or tostring(number) end

local function name_of(stream, unit, value)
  local names = stream.names[unit]
  return names and names[value]
end

-- What a value means, or nil where the number says it all.
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

-- Follows the slots of long events: returns the joined payload with the last slot, "open" while more is to come,
-- "broken" for a slot without its beginning, nil for a record of its own.
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
    -- A chunk's metadata carries the stamp of its first record and a few ticks more.
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

-- The records of a packet. Names are learnt on the first pass, whether records are shown or not. Returns the name of
-- the first event, and the long event that is still open.
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
        -- Its beginning is in a packet that is missing.
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
)lua";

} // namespace host::dissector
