-- Drives a headless Neovim as a user would and writes down what it sees, one JSON line each.

local seen = {}
local function note(name, value)
  seen[#seen + 1] = vim.json.encode({ name = name, value = value })
end

local function finish()
  vim.fn.writefile(seen, vim.env.SEEN)
  vim.cmd("qa!")
end

local changes = 0
vim.opt.runtimepath:append(vim.env.PLUGIN)
require("threadline").setup({
  cmd = vim.json.decode(vim.env.SERVE),
  settings = { sessionHours = "wrong" },
  on_change = function()
    changes = changes + 1
  end,
})

local said = {}
vim.notify = function(text)
  said[#said + 1] = text
end

local function ask(method, params)
  local result
  require("threadline").request(method, params, function(answer)
    result = answer
  end)
  vim.wait(10000, function()
    return result ~= nil
  end, 20)
  return result
end

local ok, problem = pcall(function()
  vim.cmd("edit " .. vim.env.FILE)
  note("attached", vim.wait(10000, function()
    local client = vim.lsp.get_clients({ name = "threadline" })[1]
    return client ~= nil and client.initialized == true
  end, 20))
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { "y = 7" })
  vim.cmd("write")
  note("told of the save", vim.wait(10000, function()
    return changes > 0
  end, 20))
  note("after the save", ask("threadline/sessions/list"))
  local before = changes
  vim.fn.system({ "git", "commit", "--quiet", "--all", "--message", "from neovim" })
  note("told of the commit", vim.wait(10000, function()
    return changes > before
  end, 20))
  note("after the commit", ask("threadline/sessions/list"))
  vim.cmd("Threadline pause 15m")
  vim.wait(10000, function()
    return vim.tbl_contains(said, "Threadline: capture is paused")
  end, 20)
  vim.cmd("Threadline status")
  vim.wait(10000, function()
    return #said > 1 and said[#said]:find("capture paused") ~= nil
  end, 20)
  note("said", said)
end)
if not ok then
  note("failed", tostring(problem))
end
finish()
