-- Outermost script. On the way in: sets the deadline and distrusts `traceparent`. On the way out: gives every failure one shape,
-- {"error", "code", "reason"}, whoever found it, and lets no text of Envoy's own or of a library leave.

-- HTTP status of a reply that Envoy made itself -> code, reason, what to do.
local BY_STATUS = {
  [400] = { "INVALID_ARGUMENT", "MALFORMED_REQUEST", "The request cannot be read: check its path, query and headers, and that each field has its documented type." },
  [403] = { "PERMISSION_DENIED", "UPGRADE_REFUSED", "This address takes no upgrade: send a plain request." },
  [404] = { "NOT_FOUND", "ROUTE_UNKNOWN", "There is nothing at this path: check its spelling, and leave out a trailing slash." },
  [405] = { "UNIMPLEMENTED", "METHOD_NOT_ALLOWED", "This path does not take this method: see the Allow header." },
  [408] = { "DEADLINE_EXCEEDED", "REQUEST_TIMEOUT", "The request did not arrive in time: send it again without pauses." },
  [413] = { "INVALID_ARGUMENT", "REQUEST_TOO_LARGE", "The request is larger than this path takes: send less." },
  [415] = { "INVALID_ARGUMENT", "MEDIA_TYPE_UNSUPPORTED", "This path takes JSON: send the header Content-Type: application/json." },
  [421] = { "PERMISSION_DENIED", "HOST_NOT_ALLOWED", "This host name is not served here: call localhost, or add the name to ATTEST_ALLOWED_HOSTS." },
  [426] = { "INVALID_ARGUMENT", "PROTOCOL_UNSUPPORTED", "HTTP/1.0 is not spoken here: use HTTP/1.1 or HTTP/2." },
  [429] = { "RESOURCE_EXHAUSTED", "RATE_LIMITED", "Too many requests: wait as long as the Retry-After header says." },
  [431] = { "INVALID_ARGUMENT", "HEADERS_TOO_LARGE", "The request headers are too large or too many: send fewer." },
  [500] = { "INTERNAL", "INTERNAL", "Something failed on this side: try again, and give the x-request-id of the response if it fails again." },
  [503] = { "UNAVAILABLE", "UPSTREAM_UNAVAILABLE", "A service that is needed cannot be reached: try again in a moment." },
  [504] = { "DEADLINE_EXCEEDED", "UPSTREAM_TIMEOUT", "The answer took longer than the deadline: try again, or ask for less." },
}
local NUMBERS = {
  CANCELLED = 1, UNKNOWN = 2, INVALID_ARGUMENT = 3, DEADLINE_EXCEEDED = 4, NOT_FOUND = 5, ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7, RESOURCE_EXHAUSTED = 8, FAILED_PRECONDITION = 9, ABORTED = 10, OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12, INTERNAL = 13, UNAVAILABLE = 14, DATA_LOSS = 15, UNAUTHENTICATED = 16,
}
local NAMES = {}
for name, number in pairs(NUMBERS) do NAMES[number] = name end
-- Statuses that Envoy would turn into UNKNOWN or INTERNAL for a gRPC caller, though the caller can act on them.
local GRPC_STATUS = { [400] = 3, [408] = 4, [413] = 8, [415] = 3, [421] = 7, [431] = 3 }
local UNEXPLAINED = {
  UNAVAILABLE = BY_STATUS[503],
  DEADLINE_EXCEEDED = BY_STATUS[504],
  UNIMPLEMENTED = { "UNIMPLEMENTED", "NOT_IMPLEMENTED", "The service does not offer this yet." },
}

local UPLOAD = "/api/documents/upload"
local DEFAULT_DEADLINE_S, LONGEST_DEADLINE_S, GATEWAY_GRACE_S = 30, 120, 5
-- Embedding a long document takes its time.
local SLOW_POSTS = {
  ["/api/documents"] = true, [UPLOAD] = true,
  ["/attest.ingest.v1.IngestService/IngestDocument"] = true, ["/attest.ingest.v1.IngestService/UploadDocument"] = true,
}
local SECONDS = { H = 3600, M = 60, S = 1, m = 1e-3, u = 1e-6, n = 1e-9 }

local function valid_traceparent(value)
  local trace, span = value:match("^00%-(%x+)%-(%x+)%-%x%x$")
  return trace ~= nil and #trace == 32 and #span == 16 and value == value:lower()
    and trace:find("[^0]") ~= nil and span:find("[^0]") ~= nil
end

-- Seconds of a grpc-timeout, or nil.
local function seconds_of(value)
  local amount, unit = (value or ""):match("^(%d+)([HMSmun])$")
  if not amount or #amount > 8 then return nil end
  return tonumber(amount) * SECONDS[unit]
end

local function path_of(headers)
  return headers:get(":path"):match("^[^?]*")
end

-- The service gets the caller's deadline within bounds; Envoy waits longer, so that the service can say why.
local function set_deadline(headers)
  local slow = headers:get(":method") == "POST" and SLOW_POSTS[path_of(headers)]
  local default = slow and LONGEST_DEADLINE_S or DEFAULT_DEADLINE_S
  local seconds = math.min(seconds_of(headers:get("grpc-timeout")) or default, LONGEST_DEADLINE_S)
  headers:replace("grpc-timeout", string.format("%dm", math.max(1, math.floor(seconds * 1000))))
  headers:replace("x-envoy-upstream-rq-timeout-ms", string.format("%d", (seconds + GATEWAY_GRACE_S) * 1000))
end

function envoy_on_request(handle)
  local headers = handle:headers()
  set_deadline(headers)
  if headers:get(":method") == "HEAD" then handle:streamInfo():dynamicMetadata():set("attest", "head", true) end
  -- A REST body is not compressed by gRPC's rules, whatever the client says.
  if headers:get(":path"):sub(1, 5) == "/api/" then headers:remove("grpc-encoding") end
  if path_of(headers) == UPLOAD then
    handle:streamInfo():dynamicMetadata():set("attest", "lines", true)
  end
  local value = headers:get("traceparent")
  if value == nil or headers:getNumValues("traceparent") ~= 1 or not valid_traceparent(value) then
    headers:remove("traceparent")
    headers:remove("tracestate")
  end
end

local function shape(entry)
  return string.format('{"error":"%s","code":"%s","reason":"%s"}\n', entry[3], entry[1], entry[2])
end

-- Text of a JSON string, still escaped, from the character after its opening quote.
local function escaped_text(json, start)
  local at = start
  while true do
    local found = json:find('["\\]', at)
    if not found then return nil end
    if json:byte(found) == 34 then return json:sub(start, found - 1) end
    at = found + 2
  end
end

-- The transcoder prints google.rpc.Status; only a message that came with our own ErrorInfo is passed on.
-- Inside a JSON string a quote is escaped, so a message or a metadata value cannot imitate the ErrorInfo.
local function explained(body)
  local number, start = body:match('^{"code":(%d+),"message":"()')
  local name = NAMES[tonumber(number)]
  if not name then return nil end
  local reason = body:match(
    '"@type":"type%.googleapis%.com/google%.rpc%.ErrorInfo","reason":"([%u%d_]+)","domain":"attest"')
  local message = escaped_text(body, start)
  if reason and message and message ~= "" then return { name, reason, message } end
  return UNEXPLAINED[name] or { name, "INTERNAL", BY_STATUS[500][3] }
end

local function varint(number)
  local bytes = ""
  while number > 127 do
    bytes, number = bytes .. string.char(number % 128 + 128), math.floor(number / 128)
  end
  return bytes .. string.char(number)
end

-- A field of a protobuf message that holds text or a message.
local function field(number, bytes)
  return string.char(number * 8 + 2) .. varint(#bytes) .. bytes
end

-- google.rpc.Status with the ErrorInfo that the services' own errors have.
local function status_details(code, entry)
  local info = field(1, entry[2]) .. field(2, "attest")
  local any = field(1, "type.googleapis.com/google.rpc.ErrorInfo") .. field(2, info)
  return string.char(8) .. varint(code) .. field(2, entry[3]) .. field(3, any)
end

local function shape_grpc(handle, status)
  if not status then return end                        -- the service's own reply stays as it is
  local headers = handle:headers()
  local entry = BY_STATUS[status] or BY_STATUS[500]
  if GRPC_STATUS[status] then headers:replace("grpc-status", tostring(GRPC_STATUS[status])) end
  headers:replace("grpc-message", entry[3])
  local code = tonumber(headers:get("grpc-status")) or NUMBERS.UNKNOWN
  headers:replace("grpc-status-details-bin", handle:base64Escape(status_details(code, entry)))
end

function envoy_on_response(handle)
  local headers = handle:headers()
  local mark = headers:get("x-attest-local-reply")
  local own_status = mark and tonumber(mark:match("^%d+"))
  headers:remove("x-attest-local-reply")
  if (headers:get("content-type") or ""):find("^application/grpc") then
    return shape_grpc(handle, own_status)
  end
  headers:remove("grpc-status")
  headers:remove("grpc-message")
  headers:remove("grpc-accept-encoding")
  local status = tonumber(headers:get(":status")) or 500
  if status < 400 then
    -- The transcoder calls its lines plain JSON.
    local known = handle:streamInfo():dynamicMetadata():get("attest")
    if known and known.lines then headers:replace("content-type", "application/x-ndjson") end
    return
  end

  headers:replace("content-type", "application/json")
  -- A reply to HEAD has no body: bytes after it would be read as the next reply.
  local known = handle:streamInfo():dynamicMetadata():get("attest")
  if known and known.head then return end
  -- Waiting for the body ends the life of `headers`.
  local body = handle:body(true)
  if mark and mark:find("lua_response", 1, true) then return end   -- strict_json.lua speaks the shape
  local entry = BY_STATUS[status] or BY_STATUS[500]
  if not mark then
    local ok, found = pcall(explained, body:getBytes(0, math.min(body:length(), 65536)))
    entry = ok and found or BY_STATUS[500]
  end
  body:setBytes(shape(entry))
end
