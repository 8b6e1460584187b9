// What VS Code calls to run only the tests about context.

const host = require("./index.cjs");

exports.run = () => {
  host.suites = ["context"];
  return host.run();
};
