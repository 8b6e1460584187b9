/** Typed talk with the sidecar: the generated protocol is all that names a method or a record. */

import type { CancellationToken, Disposable } from "vscode";
import {
  type BaseLanguageClient,
  ResponseError,
  WorkDoneProgress,
  type WorkDoneProgressReport,
} from "vscode-languageclient/node";
import type { Methods, Notifications, Questions } from "../shared/protocol.generated";
import { Refusal } from "./assistants/models";

/** How a request is followed until its answer. */
export interface Following {
  readonly token?: CancellationToken;
  readonly onProgress?: (report: Pick<WorkDoneProgressReport, "message" | "percentage">) => void;
}

export interface Requests {
  request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    following?: Following,
  ): Promise<Methods[M]["result"]>;
}

let lastToken = 0;

export async function send<M extends keyof Methods>(
  client: BaseLanguageClient,
  method: M,
  params: Methods[M]["params"],
  { token, onProgress }: Following = {},
): Promise<Methods[M]["result"]> {
  // A token that is undefined would be taken for another parameter.
  const tokens = token ? [token] : [];
  if (!onProgress) return client.sendRequest<Methods[M]["result"]>(method, params, ...tokens);
  const workDoneToken = `threadline-${++lastToken}`;
  const heard = client.onProgress(WorkDoneProgress.type, workDoneToken, onProgress);
  try {
    return await client.sendRequest(method, { ...params, workDoneToken }, ...tokens);
  } finally {
    heard.dispose();
  }
}

/** Answer what the sidecar asks us; a refusal reaches it with its code. */
export function answer<Q extends keyof Questions>(
  client: BaseLanguageClient,
  name: Q,
  reply: (
    params: Questions[Q]["params"],
    token: CancellationToken,
  ) => Promise<Questions[Q]["result"]>,
): Disposable {
  return client.onRequest<object, void>(name, async (params: Questions[Q]["params"], token) => {
    try {
      return await reply(params, token);
    } catch (error) {
      throw error instanceof Refusal ? new ResponseError(error.code, error.message) : error;
    }
  });
}

export function listen<N extends keyof Notifications>(
  client: BaseLanguageClient,
  name: N,
  listener: (params: Notifications[N]) => void,
): Disposable {
  return client.onNotification(name, listener);
}
