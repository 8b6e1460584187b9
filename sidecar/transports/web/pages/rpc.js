// JSON-RPC over one WebSocket that comes back when it was lost.

export class Client {
  #socket;
  #next = 1;
  #open = new Map();
  #pause = 500;

  /** `hear` gets notifications as (method, params); `change` gets "live" or "lost". */
  constructor({ hear, change }) {
    this.hear = hear;
    this.change = change;
    this.#connect();
  }

  call(method, params = {}) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#open.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  #connect() {
    this.#socket = new WebSocket(`ws://${location.host}/rpc`);
    this.#socket.onopen = () => {
      this.#pause = 500;
      this.change("live");
    };
    this.#socket.onmessage = (event) => this.#take(JSON.parse(event.data));
    this.#socket.onclose = () => this.#lose();
  }

  #take(message) {
    if (message.method) return this.hear(message.method, message.params);
    const waiting = this.#open.get(message.id);
    this.#open.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  }

  #lose() {
    for (const { reject } of this.#open.values()) reject(new Error("the connection was lost"));
    this.#open.clear();
    this.change("lost");
    setTimeout(() => this.#connect(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, 30_000);
  }
}
