-- How strict_json.lua and strict_query.lua refuse a request; rendering puts this before each of them.

-- edge.lua says that it is JSON.
local function refuse(handle, entry, message)
  local code = entry[1] == "403" and "PERMISSION_DENIED" or "INVALID_ARGUMENT"
  local body = string.format('{"error":"%s","code":"%s","reason":"%s"}\n', message, code, entry[2])
  handle:respond({ [":status"] = entry[1] }, body)
end

-- The fields that a call knows, for those who guessed one. What they sent is not repeated: it may be a question.
local function names_of(fields)
  local seen, names = {}, {}
  for _, name in pairs(fields) do
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return #names > 0 and table.concat(names, ", ") or "none"
end

-- Refuses the request when `fault_of` names a fault of it. An error in a script would let it pass: then it is refused as
-- well, in the words that envoy.yaml has for every 500 of Envoy's own.
local function admit(handle, fault_of, faults)
  local ok, fault = pcall(fault_of, handle)
  if not ok then return handle:respond({ [":status"] = "500" }, "") end
  if not fault then return end
  local message = faults[fault][3]
  if fault == "unknown" then message = message .. names_of(handle:filterContext():get("fields") or {}) .. "." end
  refuse(handle, faults[fault], message)
end
