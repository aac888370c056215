-- Admits a request only if each parameter of its query is a field of the request message, given once and well escaped; what
-- links carry for statistics (utm_*) is taken out. Also admits a document only with a content type of a document.
-- Per route: LuaPerRoute.filter_context {fields: {<JSON name or proto name>: <proto name>}, media: {<content type>: true},
-- most: <bytes>}; a route without `media` takes no body. One with it takes text/plain, which a page of any other site may send
-- from a browser without being asked: so it must not come from one.

local FAULTS = {
  media = { "415", "MEDIA_TYPE_UNSUPPORTED", "The body must be a document: send the header Content-Type: application/pdf, text/markdown, text/plain or application/octet-stream." },
  origin = { "403", "ORIGIN_NOT_ALLOWED", "Pages of other sites may not upload here: send the document from this address, or without a browser." },
  large = { "413", "REQUEST_TOO_LARGE", "The document is larger than this path takes: split it." },
  body = { "400", "MALFORMED_REQUEST", "This call takes no body: send none." },
  malformed = { "400", "MALFORMED_REQUEST", "The query string cannot be read: escape its values as a URL asks for." },
  unknown = { "400", "FIELD_UNKNOWN", "The query string has a parameter that this call does not know. It knows: " },
  duplicate = { "400", "FIELD_DUPLICATE", "The query string gives a parameter twice: give each parameter once." },
}

-- The query with proto names and without what is ignored, or nil and the name of the fault.
local function checked(query, fields)
  local kept, seen = {}, {}
  for pair in query:gmatch("[^&]+") do
    local key, value = pair:match("^([^=]*)=?(.*)$")
    if not key:find("^utm_") then
      local field = fields[key]
      if not field then return nil, "unknown" end
      if seen[field] then return nil, "duplicate" end
      if value:gsub("%%%x%x", ""):find("%", 1, true) then return nil, "malformed" end
      seen[field] = true
      kept[#kept + 1] = field .. "=" .. value
    end
  end
  return table.concat(kept, "&")
end

local function media_of(headers)
  local media = (headers:get("content-type") or ""):lower()
  return media:match("^([^;%s]*)%s*$") or media:match("^([^;%s]*)%s*;") or ""
end

-- Browsers say where a page comes from; nobody else has to.
local function from_another_site(headers)
  local site, origin = headers:get("sec-fetch-site"), headers:get("origin")
  if site then return site ~= "same-origin" and site ~= "none" end
  return origin ~= nil and origin:match("^https?://(.-):?%d*$") ~= headers:get(":authority"):match("^(.-):?%d*$")
end

-- A length that is not declared shows only when the body comes, which ends the life of headers that were got before.
local function has_body(handle)
  local body = handle:body()
  return body ~= nil and body:length() > 0
end

local function fault_of(handle)
  local headers, context = handle:headers(), handle:filterContext()
  local media = context:get("media")
  if media then
    if from_another_site(headers) then return "origin" end
    if not media[media_of(headers)] then return "media" end
    -- A length that is not declared is the service's to judge, which has begun to answer by then.
    if tonumber(headers:get("content-length") or "0") > context:get("most") then return "large" end
  elseif has_body(handle) then
    return "body"
  end
  headers, context = handle:headers(), handle:filterContext()
  local path, query = headers:get(":path"):match("^([^?]*)%?(.*)$")
  if not path then return nil end
  local kept, fault = checked(query, context:get("fields"))
  if fault then return fault end
  headers:replace(":path", path .. "?" .. kept)
end

function envoy_on_request(handle) admit(handle, fault_of, FAULTS) end
