/** The tools that language models in VS Code call: search what is remembered, and hear what is known. */

import * as vscode from "vscode";
import { hostSource } from "../../shared/hosts";
import type { Project } from "../../shared/protocol.generated";
import type { Overview } from "../overview";
import type { Requests } from "../requests";
import { NOTHING, registerTools, toldMemories } from "./toolbox";
import { placeOfFile, placeOfProject } from "./whereabouts";

const MOST = 10;

interface Search {
  readonly query?: string;
  readonly limit?: number;
}

interface Ask {
  readonly task?: string;
}

/** Offer the tools where the editor has a place for them; whatever it does then, nothing else suffers. */
export function offerTools(
  requests: Requests,
  overview: Overview,
  log: Pick<vscode.LogOutputChannel, "info">,
): vscode.Disposable[] {
  if (hostSource(vscode.env.appName, vscode.env.uriScheme) !== "vscode") return [];
  const tools = {
    threadline_search: searching(requests, overview),
    threadline_context: telling(requests, overview),
  };
  return registerTools(vscode.lm, tools, (said) => log.info(said));
}

function searching(requests: Requests, overview: Overview): vscode.LanguageModelTool<Search> {
  return {
    prepareInvocation: ({ input }) => ({
      invocationMessage: `Searching Threadline's memory for “${input.query ?? ""}”`,
    }),
    invoke: async ({ input }, token) => {
      const topK = Math.min(Math.max(Math.trunc(input.limit ?? MOST), 1), 50);
      const params = { project: project(overview), query: String(input.query ?? ""), topK };
      const found = await requests.request("threadline/memories/search", params, { token });
      return result(toldMemories(found));
    },
  };
}

function telling(requests: Requests, overview: Overview): vscode.LanguageModelTool<Ask> {
  return {
    prepareInvocation: () => ({ invocationMessage: "Reading Threadline's memory" }),
    invoke: async ({ input }, token) => {
      const query = String(input.task ?? "");
      const params = { project: project(overview), host: "vscode", query };
      const { text } = await requests.request("threadline/context/render", params, { token });
      return result(text || NOTHING);
    },
  };
}

function result(text: string): vscode.LanguageModelToolResult {
  return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
}

/** A model cannot be asked which project it means: the file in front tells it, or the first project is taken. */
function project({ projects }: Overview): string {
  const known: Project[] = (projects ?? []).map(({ project }) => project);
  const open = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const file = vscode.window.activeTextEditor?.document.uri;
  const here = file?.scheme === "file" ? placeOfFile(file.fsPath, open, known) : undefined;
  const [first] = known;
  const place = here ?? (first && placeOfProject(first, open, known));
  if (!place) throw new Error("no folder of this window has a memory yet");
  return place.folder;
}
