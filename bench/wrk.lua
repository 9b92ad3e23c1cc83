-- Arguments: method and, for a request with a body, its JSON. Prints one line of counts at the end.
function init(args)
  wrk.method = args[1]
  if args[2] then
    wrk.headers["content-type"] = "application/json"
    wrk.body = args[2]
  end
end

function done(summary)
  local e = summary.errors
  local broken = e.connect + e.read + e.write + e.timeout
  print(string.format("counts %d %d %d %d", summary.requests, summary.duration, e.status, broken))
end
