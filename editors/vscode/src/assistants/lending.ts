/** Lends the editor's own language model to the sidecar, for work that the user has started and no other. */

import * as vscode from "vscode";
import { hostSource } from "../../shared/hosts";
import type { Methods, ModelAnswer, ModelParams } from "../../shared/protocol.generated";
import { canLend, complete, type Models, Refusal } from "./models";

/** Methods that make memory. */
const WORKS: readonly (keyof Methods)[] = [
  "threadline/enrichment/start",
  "threadline/enrichment/retry",
];

export class Lender {
  private works = 0;

  constructor(
    private readonly models: Models<vscode.LanguageModelChatMessage, vscode.CancellationToken>,
  ) {}

  /** Nothing where the editor has no models to lend, or says so without meaning it. */
  static here(): Lender | undefined {
    const source = hostSource(vscode.env.appName, vscode.env.uriScheme);
    if (!canLend(source, vscode.lm)) return undefined;
    return new Lender({
      select: () => vscode.lm.selectChatModels(),
      message: (text) => vscode.LanguageModelChatMessage.User(text),
      source: () => new vscode.CancellationTokenSource(),
    });
  }

  /** Lend for as long as this takes, if it is work that makes memory. */
  async during<T>(name: string, work: () => PromiseLike<T>): Promise<T> {
    const counts = WORKS.some((method) => name === method || name === method.replaceAll("/", "."));
    if (counts) this.works += 1;
    try {
      return await work();
    } finally {
      if (counts) this.works -= 1;
    }
  }

  async complete(params: ModelParams, token: vscode.CancellationToken): Promise<ModelAnswer> {
    if (this.works === 0) {
      throw new Refusal("the editor's model is asked only when you make memory yourself");
    }
    return complete(this.models, params, token);
  }
}
