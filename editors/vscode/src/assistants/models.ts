/** Asking a language model of the editor on the sidecar's behalf: bounded, cancellable, and never more than once. */

import { ErrorCode, type ModelAnswer, type ModelParams } from "../../shared/protocol.generated";
import { functionOf } from "./guards";

/** Milliseconds after which the sidecar does not wait any more either. */
const PATIENCE = 180_000;
/** Letters of a token at the most, but for a few. */
const LETTERS = 8;
const JUSTIFICATION = "Threadline makes memory from the session that you chose.";

export interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): void };
}

export interface Source<T extends Token> {
  readonly token: T;
  cancel(): void;
  dispose(): void;
}

export interface Model<M, T extends Token> {
  readonly name: string;
  readonly maxInputTokens: number;
  countTokens(text: string, token: T): PromiseLike<number>;
  sendRequest(
    messages: M[],
    options: { justification: string },
    token: T,
  ): PromiseLike<{ readonly text: AsyncIterable<string> }>;
}

export interface Models<M, T extends Token> {
  select(): PromiseLike<readonly Model<M, T>[]>;
  message(text: string): M;
  source(): Source<T>;
}

/** Whether an editor has models to lend: elsewhere than in VS Code, the function is there and does nothing. */
export function canLend(source: string, lm: unknown): boolean {
  return source === "vscode" && functionOf(lm, "selectChatModels") !== undefined;
}

/** Why something is not answered, with the code that the sidecar knows. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly code: number = ErrorCode.MODEL_FAILED,
  ) {
    super(message);
  }
}

/** What the model answers; whatever keeps it from answering is a refusal. */
export async function complete<M, T extends Token>(
  models: Models<M, T>,
  params: ModelParams,
  token: Token,
  patience = PATIENCE,
): Promise<ModelAnswer> {
  const source = models.source();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    source.cancel();
  }, patience);
  const heeding = token.onCancellationRequested(() => source.cancel());
  try {
    if (token.isCancellationRequested) throw cancelled();
    const stopped = new Promise<never>((_, reject) => {
      source.token.onCancellationRequested(() => reject(cancelled()));
    });
    return await Promise.race([ask(models, params, source), stopped]);
  } catch (error) {
    if (isLate) throw new Refusal(`the editor's model did not answer in ${patience / 1000} s`);
    throw refusal(error);
  } finally {
    clearTimeout(timer);
    heeding.dispose();
    source.cancel();
    source.dispose();
  }
}

async function ask<M, T extends Token>(
  models: Models<M, T>,
  { system, prompt, maxTokens }: ModelParams,
  { token }: Source<T>,
): Promise<ModelAnswer> {
  const [model, inputTokens] = await choose(models, system + prompt, token);
  const messages = [models.message(system), models.message(prompt)];
  const reply = await model.sendRequest(messages, { justification: JUSTIFICATION }, token);
  const text = await read(reply.text, maxTokens);
  const outputTokens = await model.countTokens(text, token);
  if (outputTokens > maxTokens) throw tooLong(maxTokens);
  return { text, inputTokens, outputTokens };
}

/** The first model that takes so much. */
async function choose<M, T extends Token>(
  models: Models<M, T>,
  text: string,
  token: T,
): Promise<[Model<M, T>, number]> {
  const offered = (await models.select()) ?? [];
  if (offered.length === 0) {
    throw new Refusal(
      "this editor offers no language model; sign in to one, or choose another provider",
    );
  }
  for (const model of offered) {
    const tokens = await model.countTokens(text, token);
    if (tokens <= model.maxInputTokens) return [model, tokens];
  }
  throw new Refusal("the question is too long for every language model of this editor");
}

async function read(parts: AsyncIterable<string>, maxTokens: number): Promise<string> {
  let text = "";
  for await (const part of parts) {
    text += part;
    if (text.length > maxTokens * LETTERS) throw tooLong(maxTokens);
  }
  return text;
}

const REASONS: Readonly<Record<string, string>> = {
  NoPermissions: "Threadline may not use the editor's language model; allow it when you are asked",
  Blocked: "the editor's language model is blocked, mostly because a quota is used up; try later",
  NotFound: "the editor's language model is not there any more; try again",
};

function refusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const said = error instanceof Error ? error.message : String(error);
  const reason = REASONS[(error as { code?: unknown } | undefined)?.code as string];
  return new Refusal(
    reason ? `${reason} (${said})` : `the editor's language model failed: ${said}`,
  );
}

function tooLong(maxTokens: number): Refusal {
  return new Refusal(`the editor's model said more than ${maxTokens} tokens`);
}

function cancelled(): Refusal {
  return new Refusal("cancelled", ErrorCode.CANCELLED);
}
