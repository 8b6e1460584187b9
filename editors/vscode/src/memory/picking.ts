/** Picking a memory by words, as one types. */

import * as vscode from "vscode";
import { Coalescer } from "../../shared/coalescing";
import { typeName } from "../../shared/filters";
import { firstLine } from "../../shared/formats";
import type { Memory } from "../../shared/protocol.generated";
import { divide } from "../../shared/results";
import type { Requests } from "../requests";

const PAUSE = 120;
const MOST = 20;
const UNSEEN = 300;

interface Item extends vscode.QuickPickItem {
  readonly memory: Memory;
}

/** The memory that a person picks; undefined if they would rather not. */
export function pickMemory(
  requests: Requests,
  project: string,
  title: string,
): Promise<Memory | undefined> {
  const pick = vscode.window.createQuickPick<Item>();
  pick.title = title;
  pick.placeholder = "Search memory";
  pick.ignoreFocusOut = true;
  let replacedAt = 0;
  const looking = new Coalescer(async () => {
    const query = pick.value;
    pick.busy = true;
    const found = await find(requests, project, query.trim()).catch(() => []);
    if (query !== pick.value) looking.request();
    else {
      if (!isSame(found, pick.items)) {
        pick.items = found.map(itemOf);
        replacedAt = Date.now();
      }
      pick.busy = false;
    }
  }, PAUSE);
  return new Promise((resolve) => {
    pick.onDidChangeValue(() => looking.request());
    pick.onDidAccept(() => {
      const [picked] = pick.selectedItems;
      // Whoever presses Enter so soon has seen another list; the next Enter means what is seen then.
      if (!picked || Date.now() - replacedAt < UNSEEN) {
        pick.selectedItems = [];
        return;
      }
      resolve(picked.memory);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      looking.dispose();
      pick.dispose();
    });
    pick.show();
    looking.request();
  });
}

async function find(requests: Requests, project: string, query: string): Promise<Memory[]> {
  if (!query) {
    const params = { project, limit: MOST };
    return (await requests.request("threadline/memories/list", params)).memories;
  }
  const params = { project, query, topK: MOST, allBranches: true };
  const { memories } = await requests.request("threadline/memories/search", params);
  const { direct, related } = divide(memories);
  return [...direct, ...related];
}

function isSame(found: readonly Memory[], items: readonly Item[]): boolean {
  return (
    found.length === items.length &&
    found.every((one, place) => one.memoryId === items[place]?.memory.memoryId)
  );
}

/** What the sidecar finds is shown, whether or not the editor sees the words in it. */
function itemOf(memory: Memory): Item {
  const { title, content, type, pinned } = memory;
  return {
    label: pinned ? `$(pinned) ${title}` : title,
    description: typeName(type),
    detail: firstLine(content),
    alwaysShow: true,
    memory,
  };
}
