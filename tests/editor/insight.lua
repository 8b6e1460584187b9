-- Points at a line and runs a lens in a headless Neovim, and writes down what is shown, one JSON line each.

local seen = {}
local function note(name, value)
  seen[#seen + 1] = vim.json.encode({ name = name, value = value })
end

local function wait(wanted)
  return vim.wait(20000, wanted, 20)
end

local message
vim.lsp.handlers["window/showMessage"] = function(_, params)
  message = params.message
end

vim.opt.runtimepath:append(vim.env.PLUGIN)
require("threadline").setup({ cmd = vim.json.decode(vim.env.SERVE) })

--- Give the lines of the window that floats above the text, if there is one.
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    end
  end
end

--- Give what stands beside the text without being part of it.
local function beside()
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })) do
    for _, part in ipairs(mark[4].virt_text or {}) do
      found[#found + 1] = part[1]
    end
    for _, line in ipairs(mark[4].virt_lines or {}) do
      for _, part in ipairs(line) do
        found[#found + 1] = part[1]
      end
    end
  end
  return found
end

local ok, problem = pcall(function()
  vim.cmd("edit " .. vim.env.FILE)
  wait(function()
    local client = vim.lsp.get_clients({ name = "threadline" })[1]
    return client ~= nil and client.initialized == true
  end)
  vim.lsp.buf.hover()
  wait(function()
    return floating() ~= nil
  end)
  note("hover", floating())
  vim.lsp.codelens.refresh({ bufnr = 0 })
  wait(function()
    return #vim.lsp.codelens.get(0) > 0
  end)
  note("lenses", vim.lsp.codelens.get(0))
  wait(function()
    return #beside() > 0
  end)
  note("shown", beside())
  vim.lsp.codelens.run()
  wait(function()
    return message ~= nil
  end)
  note("message", message)
end)
if not ok then
  note("failed", tostring(problem))
end
vim.fn.writefile(seen, vim.env.SEEN)
vim.cmd("qa!")
