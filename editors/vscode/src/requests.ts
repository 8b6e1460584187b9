/** Typed talk with the sidecar: the generated protocol is all that names a method or a record. */

import type { Disposable } from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import type { Methods, Notifications } from "./protocol.generated";

export interface Requests {
  request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
  ): Promise<Methods[M]["result"]>;
}

export function send<M extends keyof Methods>(
  client: BaseLanguageClient,
  method: M,
  params: Methods[M]["params"],
): Promise<Methods[M]["result"]> {
  return client.sendRequest<Methods[M]["result"]>(method, params);
}

export function listen<N extends keyof Notifications>(
  client: BaseLanguageClient,
  name: N,
  listener: (params: Notifications[N]) => void,
): Disposable {
  return client.onNotification(name, listener);
}
