/**
 * Pages in a browser: JSON-RPC over one WebSocket that comes back when it was lost. Its first message shows the secret
 * that this tab was given at the door; no cookie is involved, since other ports of this machine would see it.
 */

import { type Place, read, write } from "../shared/places";
import type { Change, Failure, Methods } from "../shared/protocol.generated";
import type { Progress } from "../shared/wire";
import { type Asking, type Host, Listeners, Pending, Wish } from "./hosts";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
const ENDED = "Has threadline dashboard ended?";
const UNKNOWN_HERE =
  "This tab is not let in any more. Open the dashboard again from threadline dashboard.";
/** The close code of a server that does not know our secret. */
const UNKNOWN = 4401;
const DOOR = "/enter";
const SECRET = "threadline.secret";
/** Where the door leads back to. */
const PLACE = "place";

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
  private pause = FIRST_PAUSE;
  private hasEntered = false;
  private socket = this.connect();

  constructor() {
    addEventListener("hashchange", () => this.places.tell(read(location.hash)));
  }

  async request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    asking: Asking = {},
  ): Promise<Methods[M]["result"]> {
    const confirmed = asking.isConfirmed ? await this.confirm(method, params) : {};
    return this.pending.begin(
      asking,
      (id) => {
        const token = asking.onProgress ? { workDoneToken: id } : {};
        this.ask(id, method, { ...params, ...confirmed, ...token });
      },
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

  /** What shows the server that the person has agreed to exactly this. */
  private confirm(method: string, params: object): Promise<{ readonly confirmation: string }> {
    return this.pending.begin(
      {},
      (id) => this.ask(id, "dashboard/confirm", { method, params }),
      () => undefined,
    );
  }

  private connect(): WebSocket {
    const socket = new WebSocket(`ws://${location.host}/rpc`);
    socket.onopen = () => void this.enter();
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    socket.onclose = ({ code }) => (code === UNKNOWN ? this.leave() : this.lose());
    return socket;
  }

  /** Show the secret; nothing else is answered before. */
  private async enter(): Promise<void> {
    const secret = sessionStorage.getItem(SECRET) ?? "";
    const entered = this.pending.begin(
      {},
      (id) => this.ask(id, "dashboard/enter", { secret }),
      () => undefined,
    );
    const isIn = await entered.then(
      () => true,
      () => false,
    );
    if (!isIn) return;
    this.pause = FIRST_PAUSE;
    this.hasEntered = true;
    this.link(true);
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
    setTimeout(() => {
      this.socket = this.connect();
    }, this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  /** Our secret opens nothing here. What is already on the page stays readable; an empty page leads to the door. */
  private leave(): void {
    sessionStorage.removeItem(SECRET);
    this.pending.failAll("The connection was refused.");
    this.remedy = UNKNOWN_HERE;
    this.link(false);
    if (!this.hasEntered) goToDoor();
  }

  private link(isLive: boolean): void {
    this.isLive = isLive;
    this.links.tell(isLive);
  }
}

/** Whether this tab was let in; one that was not is led to where it is told how. */
export function mayEnter(): boolean {
  if (sessionStorage.getItem(SECRET) !== null) return true;
  goToDoor();
  return false;
}

function goToDoor(): void {
  if (location.hash) sessionStorage.setItem(PLACE, location.hash);
  location.replace(DOOR);
}
