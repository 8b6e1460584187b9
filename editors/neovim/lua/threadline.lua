-- Threadline for Neovim 0.10 and newer: starts the sidecar for every file you edit and adds :Threadline.

local M = {}

local defaults = {
  cmd = { "threadline", "serve" },
  settings = {}, -- saveIntervalSeconds, sessionHours, timeZone, hover, codeLens; others can only be turned off here
  on_change = nil, -- called with { what, projectId, ids } when the memory of a project changes
}

local function client()
  return vim.lsp.get_clients({ name = "threadline" })[1]
end

--- Ask the sidecar one of the methods that `threadline call` lists; `answer(result)` gets what it says.
function M.request(method, params, answer)
  local sidecar = client()
  if not sidecar then
    vim.notify("Threadline is not running; edit a file first", vim.log.levels.WARN)
    return
  end
  local named = vim.tbl_extend("keep", params or {}, { project = sidecar.config.root_dir })
  sidecar:request(method, named, function(failure, result)
    if failure then
      vim.notify("Threadline: " .. failure.message, vim.log.levels.ERROR)
    else
      answer(result)
    end
  end)
end

local function say(text)
  return function(result)
    vim.notify("Threadline: " .. (type(text) == "function" and text(result) or text))
  end
end

local function describe(session)
  local sources = table.concat(session.sources, ", ")
  return ("%s  %s  %d events  %d files  %s"):format(
    session.startedAt:sub(1, 16):gsub("T", " "),
    session.status,
    session.messageCount,
    #session.filesModified + session.filesOverflow,
    sources
  )
end

local commands = {
  sessions = function()
    M.request("threadline/sessions/list", { limit = 20 }, function(page)
      local lines = vim.tbl_map(describe, page.sessions)
      vim.notify(#lines > 0 and table.concat(lines, "\n") or "Threadline: no sessions yet")
    end)
  end,
  status = function()
    M.request("threadline/status", {}, say(function(status)
      local capture = status.capture.paused and "paused" or "on"
      return ("%s: %d events in %d sessions, capture %s"):format(
        status.name, status.events, status.sessions, capture)
    end))
  end,
  close = function()
    M.request("threadline/sessions/close", {}, say("session closed; the next event opens a new one"))
  end,
  pause = function(duration)
    M.request("threadline/capture/pause", { duration = duration or "forever" }, say("capture is paused"))
  end,
  resume = function()
    M.request("threadline/capture/resume", {}, say("capture is on"))
  end,
  scan = function()
    M.request("threadline/scan", {}, say(function(result)
      return ("%d commits imported"):format(result.imported)
    end))
  end,
}

local function complete(typed)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, typed)
  end, vim.tbl_keys(commands))
end

local function start(options, buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if name == "" or vim.bo[buffer].buftype ~= "" then
    return
  end
  vim.lsp.start({
    name = "threadline",
    cmd = options.cmd,
    root_dir = vim.fs.root(buffer, ".git") or vim.fs.dirname(name),
    settings = { threadline = options.settings },
    handlers = {
      ["threadline/didChange"] = function(_, change)
        if options.on_change then
          options.on_change(change)
        end
      end,
    },
  }, { bufnr = buffer, silent = true })
end

function M.setup(options)
  local chosen = vim.tbl_extend("force", defaults, options or {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = vim.api.nvim_create_augroup("threadline", {}),
    callback = function(event)
      start(chosen, event.buf)
    end,
  })
  vim.api.nvim_create_user_command("Threadline", function(typed)
    local command = commands[typed.fargs[1]]
    if command then
      command(typed.fargs[2])
    else
      vim.notify("Threadline: one of " .. table.concat(complete(""), ", "), vim.log.levels.ERROR)
    end
  end, { nargs = "+", complete = complete })
end

return M
