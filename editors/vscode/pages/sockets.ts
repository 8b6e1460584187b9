/** Pages in a browser: JSON-RPC over one WebSocket that comes back when it was lost. */

import type { Change, Failure, Methods } from "../src/protocol.generated";
import { type Asking, type Host, Listeners, Pending, Wish } from "./hosts";
import { type Place, read, write } from "./places";
import type { Progress } from "./wire";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
const ENDED = "Has threadline dashboard ended?";
const BEGUN_ANEW = "The dashboard was started anew: open the address from its terminal.";
const UNKNOWN_HERE = 401;

type Incoming =
  | { readonly id: number | null; readonly result: unknown }
  | { readonly id: number | null; readonly error: Failure }
  | { readonly method: "threadline/didChange"; readonly params: Change }
  | {
      readonly method: "$/progress";
      readonly params: { readonly token: number; readonly value: Progress };
    };

export class Browser implements Host {
  readonly changes = new Listeners<Change>();
  readonly links = new Listeners<boolean>();
  readonly places = new Listeners<Place>();
  readonly searching = new Wish();
  readonly isBare = false;
  readonly place = read(location.hash);
  isLive = false;
  remedy = ENDED;

  private readonly pending = new Pending();
  private socket = this.connect();
  private pause = FIRST_PAUSE;

  constructor() {
    addEventListener("hashchange", () => this.places.tell(read(location.hash)));
  }

  request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    asking: Asking = {},
  ): Promise<Methods[M]["result"]> {
    return this.pending.begin(
      asking,
      (id) => this.ask(id, method, asking.onProgress ? { ...params, workDoneToken: id } : params),
      (id) => this.send({ method: "$/cancelRequest", params: { id } }),
    );
  }

  visit(place: Place): void {
    location.hash = write(place);
  }

  keep(key: string, value: unknown): void {
    sessionStorage.setItem(key, JSON.stringify(value));
  }

  kept(key: string): unknown {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : JSON.parse(text);
  }

  private ask(id: number, method: string, params: object): void {
    if (this.socket.readyState === WebSocket.OPEN) this.send({ id, method, params });
    else this.pending.fail(id, "Threadline cannot be reached now.");
  }

  private send(message: object): void {
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  private connect(): WebSocket {
    const socket = new WebSocket(`ws://${location.host}/rpc`);
    socket.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.link(true);
    };
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    socket.onclose = () => this.lose();
    return socket;
  }

  private hear(message: Incoming): void {
    if ("method" in message) {
      if (message.method === "$/progress")
        this.pending.report(message.params.token, message.params.value);
      else this.changes.tell(message.params);
    } else if (message.id !== null) {
      if ("error" in message)
        this.pending.fail(message.id, message.error.message, message.error.code);
      else this.pending.answer(message.id, message.result);
    }
  }

  private lose(): void {
    this.pending.failAll("The connection was lost.");
    this.link(false);
    if (this.pause > FIRST_PAUSE) void this.look();
    setTimeout(() => {
      this.socket = this.connect();
    }, this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  /** A socket does not say why it was refused; a page does. */
  private async look(): Promise<void> {
    const status = await fetch("/").then(
      (answer) => answer.status,
      () => undefined,
    );
    if (this.isLive) return;
    this.remedy = status === UNKNOWN_HERE ? BEGUN_ANEW : ENDED;
    this.links.tell(false);
  }

  private link(isLive: boolean): void {
    this.isLive = isLive;
    this.links.tell(isLive);
  }
}
