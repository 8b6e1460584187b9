// One JSON line per test, for the runner that reads the console.

module.exports = class {
  constructor(runner) {
    const tell = (test, error) =>
      console.log(
        JSON.stringify({ check: test.title, seconds: (test.duration ?? 0) / 1000, error }),
      );
    runner.on("pass", (test) => tell(test));
    runner.on("fail", (test, error) => tell(test, error.stack ?? String(error)));
  }
};
