import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "../shared/protocol.generated";
import {
  canLend,
  complete,
  type Model,
  type Models,
  Refusal,
  type Source,
  type Token,
} from "../src/assistants/models";

const PARAMS = { system: "Read.", prompt: "Events.", maxTokens: 10 };

class Switch implements Source<Token>, Token {
  isCancellationRequested = false;
  private listeners = new Set<() => void>();

  get token(): Token {
    return this;
  }

  onCancellationRequested(listener: () => void) {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  cancel(): void {
    this.isCancellationRequested = true;
    for (const listener of this.listeners) listener();
  }

  dispose(): void {
    this.listeners.clear();
  }
}

async function* parts(...texts: string[]): AsyncGenerator<string> {
  for (const text of texts) yield text;
}

type Chosen = Partial<Model<string, Token>>;

function model(said: Chosen = {}): Model<string, Token> {
  return {
    name: "model",
    maxInputTokens: 100,
    countTokens: async (text) => text.split(/\s+/).length,
    sendRequest: async () => ({ text: parts("It is ", "so.") }),
    ...said,
  };
}

function models(...offered: Chosen[]): Models<string, Token> {
  return {
    select: async () => offered.map(model),
    message: (text) => text,
    source: () => new Switch(),
  };
}

async function refused(asked: Models<string, Token>, token = new Switch(), patience?: number) {
  const error: unknown = await complete(asked, PARAMS, token, patience).then(
    () => assert.fail("it was answered"),
    (reason) => reason,
  );
  assert.ok(error instanceof Refusal, String(error));
  return error;
}

test("a model is asked once, with both parts and a reason, and its words are counted", async () => {
  const calls: unknown[] = [];
  const sendRequest: Model<string, Token>["sendRequest"] = async (messages, options) => {
    calls.push([messages, options]);
    return { text: parts("It is ", "so.") };
  };
  assert.deepEqual(await complete(models({ sendRequest }), PARAMS, new Switch()), {
    text: "It is so.",
    inputTokens: 1,
    outputTokens: 3,
  });
  const justification = "Threadline makes memory from the session that you chose.";
  assert.deepEqual(calls, [[["Read.", "Events."], { justification }]]);
});

test("a model that takes too little is passed over", async () => {
  const never = () => assert.fail("it must not be asked");
  const asked = models({ maxInputTokens: 0, sendRequest: never }, {});
  assert.equal((await complete(asked, PARAMS, new Switch())).text, "It is so.");
  assert.match((await refused(models({ maxInputTokens: 0 }))).message, /too long for every/);
});

function named(code: string) {
  return Object.assign(new Error(`said ${code}`), { code });
}

for (const [code, words] of [
  ["NoPermissions", /may not use .* \(said NoPermissions\)/],
  ["Blocked", /blocked, mostly because a quota .* \(said Blocked\)/],
  ["NotFound", /not there any more.* \(said NotFound\)/],
  ["Unknown", /failed: said Unknown/],
] as const) {
  test(`${code} is a clear refusal, before and while it answers`, async () => {
    const fail = async () => {
      throw named(code);
    };
    const late = async () => ({
      text: (async function* () {
        yield "It";
        throw named(code);
      })(),
    });
    for (const sendRequest of [fail, late]) {
      const error = await refused(models({ sendRequest }));
      assert.equal(error.code, ErrorCode.MODEL_FAILED);
      assert.match(error.message, words);
    }
  });
}

test("an editor that offers nothing, throws or lies is refused, and never hangs", async () => {
  const select = (given: unknown) =>
    ({ ...models(), select: async () => given }) as Models<string, Token>;
  const fail = () => {
    throw new Error("not here");
  };
  for (const asked of [select([]), select(undefined), select([undefined]), select([{}])]) {
    assert.equal((await refused(asked)).code, ErrorCode.MODEL_FAILED);
  }
  assert.match((await refused({ ...models(), select: fail })).message, /failed: not here/);
  const silent = { sendRequest: async () => undefined as never };
  assert.equal((await refused(models(silent))).code, ErrorCode.MODEL_FAILED);
});

test("an answer that is too long is cut off", async () => {
  let given = 0;
  const endless = async () => ({
    text: (async function* () {
      for (;;) yield `${given++} `;
    })(),
  });
  assert.match((await refused(models({ sendRequest: endless }))).message, /more than 10 tokens/);
  assert.ok(given < 100);
  const wordy = async () => ({ text: parts("a b c d e f g h i j k") });
  assert.match((await refused(models({ sendRequest: wordy }))).message, /more than 10 tokens/);
});

test("a cancellation and a time limit are passed on to the model", async () => {
  for (const how of ["cancelled", "late", "cancelled before"] as const) {
    const asked = new Switch();
    const given: Token[] = [];
    const hang = (_: unknown, __: unknown, token: Token) => {
      given.push(token);
      if (how === "cancelled") asked.cancel();
      return new Promise<never>(() => {});
    };
    if (how === "cancelled before") asked.cancel();
    const error = await refused(models({ sendRequest: hang }), asked, how === "late" ? 20 : 60_000);
    assert.equal(error.code, how === "late" ? ErrorCode.MODEL_FAILED : ErrorCode.CANCELLED);
    assert.equal(given.length, how === "cancelled before" ? 0 : 1);
    assert.ok(given.every((token) => token.isCancellationRequested));
  }
});

test("models are lent in VS Code alone, and only where there are some", () => {
  const lm = { selectChatModels: () => [] };
  const liar = {
    get selectChatModels(): never {
      throw new Error("it lies");
    },
  };
  assert.ok(canLend("vscode", lm));
  for (const source of ["cursor", "windsurf", "devin", "kiro", "antigravity"]) {
    assert.ok(!canLend(source, lm));
  }
  for (const nothing of [undefined, null, {}, { selectChatModels: 7 }, liar]) {
    assert.ok(!canLend("vscode", nothing));
  }
});
