/** Typed talk with the sidecar: the generated protocol is all that names a method or a record. */

import type { CancellationToken, Disposable } from "vscode";
import {
  type BaseLanguageClient,
  CancellationToken as Cancellation,
  WorkDoneProgress,
  type WorkDoneProgressReport,
} from "vscode-languageclient";
import type { Methods, Notifications } from "./protocol.generated";

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

const NEVER = Cancellation.None;
let lastToken = 0;

export async function send<M extends keyof Methods>(
  client: BaseLanguageClient,
  method: M,
  params: Methods[M]["params"],
  // Left out, a token would count as one more parameter.
  { token = NEVER, onProgress }: Following = {},
): Promise<Methods[M]["result"]> {
  if (!onProgress) return client.sendRequest<Methods[M]["result"]>(method, params, token);
  const workDoneToken = `threadline-${++lastToken}`;
  const heard = client.onProgress(WorkDoneProgress.type, workDoneToken, onProgress);
  try {
    return await client.sendRequest(method, { ...params, workDoneToken }, token);
  } finally {
    heard.dispose();
  }
}

export function listen<N extends keyof Notifications>(
  client: BaseLanguageClient,
  name: N,
  listener: (params: Notifications[N]) => void,
): Disposable {
  return client.onNotification(name, listener);
}
