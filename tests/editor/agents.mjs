// An agent at work beside the editor: another process that talks to the same memory.

import { execFileSync } from "node:child_process";

export class Agent {
  constructor({ editor, sidecar }, id) {
    this.id = id;
    this.sidecar = sidecar;
    this.options = {
      cwd: editor.workspace.folder,
      env: editor.environment(),
      encoding: "utf8",
    };
  }

  run(...words) {
    return execFileSync(this.sidecar, words, this.options);
  }

  call(method, params) {
    const text = JSON.stringify(params);
    return JSON.parse(execFileSync(this.sidecar, ["call", method, text], this.options));
  }

  /** Send all of them at once, in one process. */
  tell(...messages) {
    const lines = messages.map((message, id) =>
      JSON.stringify({
        id,
        method: "threadline/messages/send",
        params: { targetId: "user", senderId: this.id, ...message },
      }),
    );
    const input = `${lines.join("\n")}\n`;
    execFileSync(this.sidecar, ["call", "-"], { ...this.options, input });
  }

  /** What the person has done with a message of ours. */
  handling(subject) {
    const params = { agentId: this.id, sent: true, status: "all", limit: 100 };
    const { messages } = this.call("threadline/messages/read", params);
    return messages.find((message) => message.subject === subject)?.handlings.user;
  }

  plan(...tasks) {
    return this.call("threadline/tasks/create", { tasks, agentId: this.id }).tasks;
  }

  task(title) {
    const { tasks } = this.call("threadline/tasks/list", { limit: 200 });
    return tasks.find((task) => task.title === title);
  }
}
