/** The person's messages: what waits is taken once, by one window, which then tells it. */

import type { Project } from "../../shared/protocol.generated";
import { Followed } from "../followed";
import type { Sidecar } from "../sidecar";
import type { Post } from "./messages";
import { readPost, type Tell } from "./posts";

export class Inbox extends Followed<Post> {
  constructor(
    sidecar: Sidecar,
    private readonly tell: Tell,
  ) {
    super(sidecar, "messages");
  }

  protected read(project: Project): Promise<Post> {
    return readPost(this.sidecar, project, this.tell);
  }
}
