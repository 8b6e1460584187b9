/** What a person does about memory that is to be made: begin, stop, try again, save room. */

import * as vscode from "vscode";
import { count, moment, summary } from "../../shared/formats";
import { isRunning, made, obstacle, standing } from "../../shared/jobs";
import type { Job, Session } from "../../shared/protocol.generated";
import { byteSize, title } from "../../shared/stories";
import { choose } from "../choosing";
import type { Overview } from "../overview";
import { follow } from "../progress";
import { Registrations } from "../registrations";
import type { Following } from "../requests";
import type { Sidecar } from "../sidecar";
import { activeSessions, ordered } from "../states";
import { JobNode } from "../tree/job";
import { SessionNode } from "../tree/session";
import type { Workshop } from "./workshop";

const OPEN = "Open Session";
const RETRY = "Retry";

export class MakingCommands extends Registrations {
  constructor(
    private readonly sidecar: Sidecar,
    private readonly overview: Overview,
    private readonly workshop: Workshop,
  ) {
    super();
    this.register("threadline.generateMemory", "make memory", (node) => this.generate(node));
    this.register("threadline.compactSession", "compact the session", (node) => this.compact(node));
    this.register("threadline.retryJob", "retry the job", (node) => this.retry(node));
    this.register("threadline.cancelJob", "cancel the job", (node) => this.cancel(node));
    this.register("threadline.showJobs", "show the jobs", () =>
      vscode.commands.executeCommand("threadline.jobs.focus"),
    );
  }

  private async generate(node: unknown): Promise<void> {
    const session = await this.chosenSession(node);
    if (!session) return;
    const of = { sessionId: session.sessionId, project: session.projectId };
    const shown = await this.sidecar.request("threadline/sessions/get", of);
    const why = obstacle(shown, []);
    if (why) void vscode.window.showInformationMessage(why);
    else
      await this.follow(session, (way) =>
        this.sidecar.request("threadline/enrichment/start", of, way),
      );
  }

  private async retry(node: unknown): Promise<void> {
    const failed = this.workshop.jobs.filter(({ status }) => status === "failed");
    const job = await this.chosenJob(node, failed, "Retry Which Job?");
    if (job) await this.resume(job);
  }

  private async resume(job: Job): Promise<void> {
    const of = { jobId: job.jobId, project: job.projectId };
    await this.follow(job, (way) => this.sidecar.request("threadline/enrichment/retry", of, way));
  }

  private async cancel(node: unknown): Promise<void> {
    const running = this.workshop.jobs.filter(isRunning);
    const job = await this.chosenJob(node, running, "Cancel Which Job?");
    if (!job) return;
    const of = { jobId: job.jobId, project: job.projectId };
    await this.sidecar.request("threadline/enrichment/cancel", of);
  }

  private async compact(node: unknown): Promise<void> {
    const closed = this.sessions.filter(({ status }) => status === "closed");
    const session =
      node instanceof SessionNode
        ? node.session
        : await this.pick("Compact Which Session?", closed);
    if (!session) return;
    const detail = `${count(session.messageCount, "event")} become one compressed record. Everything stays readable, and memory is not touched.`;
    const yes = await vscode.window.showInformationMessage(
      `Compact “${title(session)}”?`,
      { modal: true, detail },
      "Compact",
    );
    if (!yes) return;
    const of = { sessionId: session.sessionId, project: session.projectId };
    const done = await this.sidecar.request("threadline/sessions/compact", of);
    void vscode.window.showInformationMessage(
      `Compacted: ${byteSize(done.bytesBefore)} became ${byteSize(done.bytesAfter)}.`,
    );
  }

  /** Let the person see how far it is and stop it; what comes of it is told. */
  private async follow(
    of: { readonly sessionId: string; readonly projectId: string },
    begin: (way: Following) => Promise<Job>,
  ): Promise<void> {
    const job = await follow("Threadline: making memory", begin);
    if (job) await this.tell(job, of);
  }

  private async tell(
    job: Job,
    of: { readonly sessionId: string; readonly projectId: string },
  ): Promise<void> {
    if (job.status === "completed") {
      const said = made(job);
      const chosen = await vscode.window.showInformationMessage(said, OPEN);
      if (chosen) await vscode.commands.executeCommand("threadline.openSession", of);
    } else if (job.status === "failed") {
      const said = `Making memory ${standing(job)}`;
      const chosen = await vscode.window.showErrorMessage(said, RETRY, OPEN);
      if (chosen === RETRY) await this.resume(job);
      else if (chosen) await vscode.commands.executeCommand("threadline.openSession", of);
    }
  }

  /** What was clicked, or else the active session, or else one that is picked. */
  private async chosenSession(node: unknown): Promise<Session | undefined> {
    if (node instanceof SessionNode) return node.session;
    const [active, ...others] = activeSessions(this.overview.projects ?? []);
    if (active && others.length === 0) return active;
    const unread = this.sessions.filter(({ enrichmentStatus }) => enrichmentStatus !== "completed");
    return this.pick("Generate Memory From Which Session?", unread);
  }

  private async pick(question: string, sessions: readonly Session[]): Promise<Session | undefined> {
    if (sessions.length === 0) {
      void vscode.window.showInformationMessage("There is no such session now.");
      return undefined;
    }
    return choose(
      question,
      ordered(sessions).map((session) => ({
        label: title(session),
        description: moment(session.startedAt, new Date()),
        detail: summary(session),
        value: session,
      })),
    );
  }

  private async chosenJob(
    node: unknown,
    jobs: readonly Job[],
    question: string,
  ): Promise<Job | undefined> {
    if (node instanceof JobNode) return node.job;
    if (jobs.length < 2) return jobs[0];
    return choose(
      question,
      jobs.map((job) => ({
        label: moment(job.createdAt, new Date()),
        description: standing(job),
        value: job,
      })),
    );
  }

  private get sessions(): Session[] {
    return (this.overview.projects ?? []).flatMap(({ page }) => page.sessions);
  }
}
