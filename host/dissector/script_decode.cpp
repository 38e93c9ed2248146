// SPDX-License-Identifier: MIT
// Long events in the dissector: their payloads as docs/trace-format.md lists them, and the names that they give to
// numbers. Payloads are Lua strings; a payload that is too short decodes to nothing.
#include "host/dissector/script.hpp"

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

local function learn(stream, event, text)
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
local function show_long(tree, range, event, text)
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
