/** Pages inside an editor: the extension asks the sidecar for them. */

import { first, type Place, write } from "../shared/places";
import type { Change, Methods } from "../shared/protocol.generated";
import type { HostMessage, PageMessage, Target } from "../shared/wire";
import { type Asking, type Host, Listeners, Pending, Wish } from "./hosts";

interface Editor {
  postMessage(message: PageMessage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

interface State {
  readonly place?: string;
  readonly kept?: Readonly<Record<string, unknown>>;
}

declare function acquireVsCodeApi(): Editor;

export function isWebview(): boolean {
  return "acquireVsCodeApi" in globalThis;
}

export class Webview implements Host {
  readonly changes = new Listeners<Change>();
  readonly links = new Listeners<boolean>();
  readonly places = new Listeners<Place>();
  readonly searching = new Wish();
  readonly isBare = document.body.dataset.frame === "none";
  readonly place: Place;
  isLive = true;
  readonly remedy = "";

  private readonly editor = acquireVsCodeApi();
  private readonly pending = new Pending();

  constructor() {
    this.place = first(this.state.place, document.body.dataset.place);
    this.settle(this.place);
    addEventListener("message", (event: MessageEvent<HostMessage>) => this.hear(event.data));
    this.editor.postMessage({ kind: "ready" });
  }

  request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    asking: Asking = {},
  ): Promise<Methods[M]["result"]> {
    return this.pending.begin(
      asking,
      (id) => this.editor.postMessage({ kind: "request", id, method, params }),
      (id) => this.editor.postMessage({ kind: "cancel", id }),
    );
  }

  visit(place: Place): void {
    this.editor.postMessage({ kind: "visit", place });
  }

  readonly open = (target: Target): void => {
    this.editor.postMessage({ kind: "open", target });
  };

  keep(key: string, value: unknown): void {
    const { kept = {} } = this.state;
    this.editor.setState({ ...this.state, kept: { ...kept, [key]: value } });
  }

  kept(key: string): unknown {
    return this.state.kept?.[key];
  }

  private hear(message: HostMessage): void {
    switch (message.kind) {
      case "answer":
        this.pending.answer(message.id, message.result);
        break;
      case "failure":
        this.pending.fail(message.id, message.message, message.code);
        break;
      case "progress":
        this.pending.report(message.id, message.progress);
        break;
      case "change":
        this.changes.tell(message.change);
        break;
      case "link":
        this.isLive = message.isLive;
        this.links.tell(message.isLive);
        break;
      case "show":
        this.settle(message.place);
        this.places.tell(message.place);
        break;
      case "search":
        this.searching.make();
    }
  }

  /** What an editor gives back when it opens again. */
  private settle(place: Place): void {
    this.editor.setState({ ...this.state, place: write(place) });
  }

  private get state(): State {
    return (this.editor.getState() ?? {}) as State;
  }
}
