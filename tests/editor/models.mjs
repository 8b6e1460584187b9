// A language model on this machine that does as it is told: refuses, keeps one waiting, or answers.

import { once } from "node:events";
import { createServer } from "node:http";

const NOTHING = JSON.stringify({ items: [] });

export class Model {
  #waiting = [];
  #server = createServer((question, answer) => {
    question.resume();
    question.on("end", () => this.#meet(answer));
  });
  mood = "refuse";

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
    for (const answer of this.#waiting.splice(0)) reply(answer);
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #meet(answer) {
    if (this.mood === "refuse") answer.writeHead(401).end("{}");
    else if (this.mood === "hold") this.#waiting.push(answer);
    else reply(answer);
  }
}

function reply(answer) {
  const message = { role: "assistant", content: NOTHING };
  const body = { choices: [{ message, finish_reason: "stop" }], usage: { prompt_tokens: 9, completion_tokens: 3 } };
  answer.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
}
