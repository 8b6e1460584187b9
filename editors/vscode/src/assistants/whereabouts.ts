/** Which folder of the window is meant, told by the file that is open in front. */

import * as path from "node:path";
import type { Project } from "../../shared/protocol.generated";
import { fileRoots, holds, workingTree } from "../locating";

export interface Place {
  /** Where the project's files are. */
  readonly folder: string;
  /** The file in front, from the root of the project, where that is known. */
  readonly file?: string;
}

/** The place of a file; undefined for one that belongs to no folder of the window. */
export function placeOfFile(
  file: string,
  open: readonly string[],
  projects: readonly Project[],
): Place | undefined {
  const folder = innermost(open, file);
  if (!folder) return undefined;
  const roots = projects.flatMap(({ folders }) => folders.map(workingTree));
  const root = innermost(roots, file);
  // A root above the open folder may be that of another working tree.
  if (!root || !holds(folder, root)) return { folder };
  return { folder: root, file: path.relative(root, file).split(path.sep).join("/") };
}

/** The place of a project; where it is open counts more than where it was first seen. */
export function placeOfProject(
  project: Project,
  open: readonly string[],
  projects: readonly Project[],
): Place {
  const others = projects.filter(({ projectId }) => projectId !== project.projectId);
  const [folder = project.projectId] = fileRoots(
    project.folders,
    others.flatMap(({ folders }) => folders),
    open,
  );
  return { folder };
}

function innermost(folders: readonly string[], file: string): string | undefined {
  return folders.filter((folder) => holds(folder, file)).toSorted((a, b) => b.length - a.length)[0];
}
