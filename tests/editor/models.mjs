// A language model on this machine that does as it is told: refuses, keeps one waiting, or answers.

import { once } from "node:events";
import { createServer } from "node:http";

export class Model {
  #waiting = [];
  #server = createServer((question, answer) => {
    let asked = "";
    question.setEncoding("utf8").on("data", (part) => {
      asked += part;
    });
    question.on("end", () => this.#meet(asked, answer));
  });
  /** `refuse`, `hold` or `answer`. */
  mood = "refuse";
  /** Words that it takes for a decision wherever it reads them. */
  weighty = "";

  static async open() {
    const model = new Model();
    model.#server.listen(0, "127.0.0.1");
    await once(model.#server, "listening");
    model.#server.unref();
    return model;
  }

  get settings() {
    const { port } = this.#server.address();
    return { modelBaseUrl: `http://127.0.0.1:${port}/v1`, modelName: "parrot" };
  }

  /** Answer whoever waits, and from now on everybody at once. */
  release() {
    this.mood = "answer";
    for (const [asked, answer] of this.#waiting.splice(0)) this.#reply(asked, answer);
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #meet(asked, answer) {
    if (this.mood === "refuse") answer.writeHead(401).end("{}");
    else if (this.mood === "hold") this.#waiting.push([asked, answer]);
    else this.#reply(asked, answer);
  }

  #reply(asked, answer) {
    const message = { role: "assistant", content: JSON.stringify({ items: this.#items(asked) }) };
    const usage = { prompt_tokens: 90, completion_tokens: 30 };
    const body = { choices: [{ message, finish_reason: "stop" }], usage };
    answer.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
  }

  #items(asked) {
    const { weighty } = this;
    const before = weighty ? asked.split(weighty, 1)[0] : asked;
    const eventId = before.match(/event ([0-9A-Z]{26})/g)?.at(-1)?.slice(6);
    if (before === asked || !eventId) return [];
    const evidence = [{ eventId, quote: weighty }];
    return [{ type: "decision", title: weighty, content: `${weighty}.`, evidence }];
  }
}
