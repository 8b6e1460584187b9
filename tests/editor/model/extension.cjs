// A language model that reads commits as a test wants it: it quotes the first event that decides something.

const vscode = require("vscode");

const MODEL = {
  id: "loom-1",
  name: "Loom 1",
  family: "loom",
  version: "1",
  maxInputTokens: 100_000,
  maxOutputTokens: 10_000,
  capabilities: {},
};

exports.activate = (context) => {
  const seen = { asked: 0, cancelled: 0, mood: "willing" };
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("loom", provider(seen)));
  return seen;
};

function provider(seen) {
  return {
    provideLanguageModelChatInformation: async () => [MODEL],
    provideTokenCount: async (_, text) => Math.ceil(words(text).length / 4),
    async provideLanguageModelChatResponse(_, messages, __, progress, token) {
      seen.asked++;
      if (seen.mood === "blocked") throw vscode.LanguageModelError.Blocked("the quota is used up");
      if (seen.mood === "silent") {
        await new Promise((resolve) => token.onCancellationRequested(resolve));
        seen.cancelled++;
        return;
      }
      const answer = JSON.stringify({ items: read(messages.map(words).join("\n")) });
      for (const part of answer.match(/.{1,50}/gs)) {
        progress.report(new vscode.LanguageModelTextPart(part));
      }
    },
  };
}

function read(text) {
  const [, eventId] = /([0-7][0-9A-HJKMNP-TV-Z]{25})/.exec(text) ?? [];
  const [quote] = /Use .+ instead of [^\n]+/.exec(text) ?? [];
  if (!eventId || !quote) return [];
  const evidence = [{ eventId, quote }];
  const content = "Advisory locks guard the jobs; Redis is not used.";
  return [{ type: "decision", title: "Jobs are guarded by advisory locks", content, evidence }];
}

function words(message) {
  if (typeof message === "string") return message;
  return message.content.map((part) => part.value ?? "").join("");
}
