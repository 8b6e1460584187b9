// What VS Code calls to run the tests inside its extension host.

const path = require("node:path");
const Mocha = require("mocha");

exports.suites = ["sidecar", "together"];

exports.run = () =>
  new Promise((resolve, reject) => {
    const mocha = new Mocha({
      ui: "tdd",
      timeout: 90_000,
      reporter: path.join(__dirname, "reporter.cjs"),
    });
    for (const suite of exports.suites) mocha.addFile(path.join(__dirname, `${suite}.test.cjs`));
    mocha.run((failures) => (failures ? reject(new Error(`${failures} failed`)) : resolve()));
  });
