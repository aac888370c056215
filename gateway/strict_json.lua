-- Admits a request body only if it is one JSON object whose top-level keys are fields of the request message,
-- each given once. The transcoder would drop an unknown field in silence and let the last duplicate win.
-- Per route: LuaPerRoute.filter_context {fields: {<JSON name or proto name>: <proto name>}}.

local MAX_DEPTH = 32
local FAULTS = {
  media = { "415", "MEDIA_TYPE_UNSUPPORTED", "The body must be JSON: send the header Content-Type: application/json." },
  query = { "400", "FIELD_UNKNOWN", "This call takes no query string: put its fields into the JSON body." },
  malformed = { "400", "MALFORMED_REQUEST", "The body is not one well-formed JSON object: check quotes, commas and braces." },
  text = { "400", "TEXT_MALFORMED", "A text of the body holds half a surrogate pair: send well-formed Unicode." },
  unknown = { "400", "FIELD_UNKNOWN", "The body has a field that this call does not know. It knows: " },
  element = { "400", "MALFORMED_REQUEST", "A list of the body holds null or another list: give its elements themselves." },
  duplicate = { "400", "FIELD_DUPLICATE", "The body gives a field twice: give each field once." },
}

-- Position of the quote that closes the string opened at `start`, and whether the string holds half a surrogate pair:
-- JSON can spell that, Unicode cannot hold it.
local function closing_quote(text, start)
  local at, lone, low_due = start + 1, false, nil
  while true do
    local found = text:find('["\\]', at)
    if not found then return nil end
    if text:byte(found) == 34 then return found, lone or low_due ~= nil end
    local unit = text:match("^u[dD]([89a-fA-F])%x%x", found + 1)
    local low = unit ~= nil and unit:find("[c-fC-F]") ~= nil
    if (low_due or low) and not (low and found == low_due) then lone = true end
    low_due = unit and not low and found + 6 or nil
    at = found + 2
  end
end

-- Position after the number or word at `start`. The transcoder judges the number itself; what matters here is
-- that no bare or single-quoted key passes, which its parser would take.
local function after_scalar(text, start)
  local _, stop = text:find("^[%d%+%-%.eE]+", start)
  if stop then return stop + 1 end
  for _, word in ipairs({ "true", "false", "null" }) do
    if text:sub(start, start + #word - 1) == word then return start + #word end
  end
  return nil
end

-- Walks the whole text with a stack of open brackets; returns the name of the first fault, or nil.
local function fault_in(text, fields)
  local stack, depth, seen = {}, 0, {}
  local expect = "value"                     -- value | key | first_key | colon | next
  local at = text:find("[^ \t\r\n]")
  if not at or text:byte(at) ~= 123 then return "malformed" end
  while at do
    local char = text:sub(at, at)
    if expect == "done" then return "malformed" end
    if char == '"' then
      local stop, lone = closing_quote(text, at)
      if not stop then return "malformed" end
      if lone then return "text" end
      if expect == "key" or expect == "first_key" then
        if depth == 1 then
          local field = fields[text:sub(at + 1, stop - 1)]
          if not field then return "unknown" end
          if seen[field] then return "duplicate" end
          seen[field] = true
        end
        expect = "colon"
      elseif expect == "value" or expect == "first_value" then
        expect = "next"
      else
        return "malformed"
      end
      at = stop + 1
    elseif char == "{" or char == "[" then
      if expect ~= "value" and expect ~= "first_value" then return "malformed" end
      if char == "[" and stack[depth] == "[" then return "element" end
      depth = depth + 1
      if depth > MAX_DEPTH then return "malformed" end
      stack[depth] = char
      expect = char == "{" and "first_key" or "first_value"
      at = at + 1
    elseif char == "}" or char == "]" then
      local open = char == "}" and "{" or "["
      local empty = char == "}" and "first_key" or "first_value"
      if stack[depth] ~= open or (expect ~= "next" and expect ~= empty) then return "malformed" end
      depth = depth - 1
      expect = depth == 0 and "done" or "next"
      at = at + 1
    elseif char == "," then
      if expect ~= "next" then return "malformed" end
      expect = stack[depth] == "{" and "key" or "value"
      at = at + 1
    elseif char == ":" then
      if expect ~= "colon" then return "malformed" end
      expect = "value"
      at = at + 1
    else
      if expect ~= "value" and expect ~= "first_value" then return "malformed" end
      if char == "n" and stack[depth] == "[" then return "element" end
      at = after_scalar(text, at)
      if not at then return "malformed" end
      expect = "next"
    end
    at = text:find("[^ \t\r\n]", at)
  end
  return expect ~= "done" and "malformed" or nil
end

local function fault_of(handle)
  local headers = handle:headers()
  local media = (headers:get("content-type") or ""):lower()
  if headers:getNumValues("content-type") ~= 1
      or not (media:find("^application/json%s*$") or media:find("^application/json%s*;")) then
    return "media"
  end
  if headers:get(":path"):find("?", 1, true) then return "query" end
  local fields = handle:filterContext():get("fields")
  local body = handle:body(true)
  local length = body:length()
  if length == 0 then return "malformed" end
  return fault_in(body:getBytes(0, length), fields)
end

function envoy_on_request(handle) admit(handle, fault_of, FAULTS) end
