/** Asking a person: which project, which agent, which of a few things. */

import * as vscode from "vscode";
import { moment } from "../shared/formats";
import type { Project } from "../shared/protocol.generated";
import { type Place, placeOfFile, placeOfProject } from "./assistants/whereabouts";
import type { Requests } from "./requests";

const YEAR = 365;
const MOST = 50;

interface Choice<T> extends vscode.QuickPickItem {
  readonly value: T;
}

export async function choose<T>(title: string, choices: Choice<T>[]): Promise<T | undefined> {
  const picked = await vscode.window.showQuickPick(choices, { title, matchOnDescription: true });
  return picked?.value;
}

/** The only project, or the one that is picked. */
export async function chooseProject(
  title: string,
  projects: readonly Project[],
): Promise<Project | undefined> {
  if (projects.length === 0) throw new Error("no folder of this window has a memory yet");
  if (projects.length === 1) return projects[0];
  return choose(
    title,
    projects.map((project) => ({ label: project.name, value: project })),
  );
}

/** Where the file in front belongs to, or else the only project, or the one that is picked. */
export async function choosePlace(
  title: string,
  projects: readonly Project[],
): Promise<Place | undefined> {
  const open = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const file = vscode.window.activeTextEditor?.document.uri;
  const here = file?.scheme === "file" && placeOfFile(file.fsPath, open, projects);
  if (here) return here;
  const project = await chooseProject(title, projects);
  return project && placeOfProject(project, open, projects);
}

/** An agent that was here lately, one of the given stand-ins, or any other by its id. */
export async function chooseAgent(
  requests: Requests,
  title: string,
  { project, others }: { project: string; others: readonly Choice<string>[] },
): Promise<string | undefined> {
  const params = { project, daysBack: YEAR, limit: MOST };
  const { agents } = await requests.request("threadline/agents/list", params);
  const choices: Choice<string | null>[] = agents.map((agent) => ({
    label: `$(hubot) ${agent.label}`,
    description: agent.label === agent.agentId ? "" : agent.agentId,
    detail: [agent.lastSummary, `last seen ${moment(agent.lastSeenAt, new Date())}`]
      .filter(Boolean)
      .join(" · "),
    value: agent.agentId,
  }));
  const typed = { label: "$(edit) Another Agent…", description: "by its id", value: null };
  const chosen = await choose(title, [...choices, ...others, typed]);
  return chosen === null ? askText(title, { placeHolder: "claude-code", most: 200 }) : chosen;
}

interface Question {
  readonly prompt?: string;
  readonly placeHolder?: string;
  readonly most: number;
  readonly mayBeEmpty?: boolean;
}

/** What a person types; undefined if they would rather not. */
export async function askText(title: string, question: Question): Promise<string | undefined> {
  const { most, mayBeEmpty, ...options } = question;
  const typed = await vscode.window.showInputBox({
    title,
    ignoreFocusOut: true,
    ...options,
    validateInput: (text) => {
      if (text.length > most) return `At most ${most.toLocaleString("en")} characters.`;
      return text.trim() || mayBeEmpty ? undefined : "Say something.";
    },
  });
  return typed?.trim();
}
