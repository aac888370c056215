-- How strict_json.lua and strict_query.lua refuse a request; rendering puts this before each of them.

-- edge.lua says that it is JSON.
local function refuse(handle, entry)
  local code = entry[1] == "403" and "PERMISSION_DENIED" or "INVALID_ARGUMENT"
  local body = string.format('{"error":"%s","code":"%s","reason":"%s"}\n', entry[3], code, entry[2])
  handle:respond({ [":status"] = entry[1] }, body)
end

-- Refuses the request when `fault_of` names a fault of it. An error in a script would let it pass: then it is refused as
-- well, in the words that envoy.yaml has for every 500 of Envoy's own.
local function admit(handle, fault_of, faults)
  local ok, fault = pcall(fault_of, handle)
  if not ok then return handle:respond({ [":status"] = "500" }, "") end
  if fault then refuse(handle, faults[fault]) end
end
