/** Typed talk with the sidecar: the generated protocol is all that names a method or a record. */

import type { CancellationToken, Disposable } from "vscode";
import {
  type BaseLanguageClient,
  ResponseError,
  WorkDoneProgress,
  type WorkDoneProgressReport,
} from "vscode-languageclient/node";
import { Refusal } from "./assistants/models";
import type { Methods, Notifications, Questions } from "./protocol.generated";

/** How a request is followed until its answer. */
export interface Following {
  readonly token?: CancellationToken;
  readonly onProgress?: (report: Pick<WorkDoneProgressReport, "message" | "percentage">) => void;
}

export interface Requests {
  request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    token?: CancellationToken,
  ): Promise<Methods[M]["result"]>;
}

const NEVER = Cancellation.None;
let lastToken = 0;

export async function send<M extends keyof Methods>(
  client: BaseLanguageClient,
  method: M,
  params: Methods[M]["params"],
  token?: CancellationToken,
): Promise<Methods[M]["result"]> {
  if (!onProgress) return ask(client, method, params, token);
  const workDoneToken = `threadline-${++lastToken}`;
  const heard = client.onProgress(WorkDoneProgress.type, workDoneToken, onProgress);
  try {
    return await ask(client, method, { ...params, workDoneToken }, token);
  } finally {
    heard.dispose();
  }
}

/** A token that is not there must not be handed on: the client would take it for a second parameter. */
function ask<T>(
  client: BaseLanguageClient,
  method: string,
  params: object,
  token: CancellationToken | undefined,
): Promise<T> {
  return token ? client.sendRequest(method, params, token) : client.sendRequest(method, params);
}

export function listen<N extends keyof Notifications>(
  client: BaseLanguageClient,
  name: N,
  listener: (params: Notifications[N]) => void,
): Disposable {
  return client.onNotification(name, listener);
}
