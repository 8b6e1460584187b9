/** Why the sidecar could not be installed: one sentence, and what helps. */

import { isNew, OLDEST, type Python } from "./pythons";
import { compare } from "./versions";

export type Remedy = "Try Again" | "Choose Python…" | "Open Settings" | "Show Log";

export interface Refusal {
  readonly sentence: string;
  readonly remedies: readonly Remedy[];
}

const UNREACHABLE =
  /name resolution|getaddrinfo failed|nodename nor servname|Network is unreachable|NewConnectionError|ConnectTimeout|ProxyError|Connection refused|timed out|Could not fetch URL|SSLError|CERTIFICATE_VERIFY_FAILED/i;
const FULL = /No space left on device|not enough space|Disk quota exceeded/i;
const LACKING = /No matching distribution found|conflicting dependencies/i;
const FETCHED = /^\s*(?:Downloading|Using cached) /m;
const SAID = /^\s*(?:ERROR|error):\s*(.+)$/;
const MOST = 200;

/** What is wrong with the Pythons of this machine, none of which will do. */
export function refusePythons(found: readonly Python[], chosen: string | undefined): Refusal {
  if (chosen !== undefined) return refuseChosen(found[0], chosen);
  const withoutVenv = found.find((python) => isNew(python) && !python.hasVenv);
  if (withoutVenv) return lacksVenv(withoutVenv);
  const [newest] = found.toSorted((one, other) => compare(other.version, one.version));
  const known = newest
    ? `the newest one found is ${newest.version} (${newest.path}).`
    : "none was found on this machine.";
  return {
    sentence: `Threadline's sidecar needs Python ${OLDEST} or newer, and ${known}`,
    remedies: ["Choose Python…", "Try Again"],
  };
}

export function refuseEnvironment(lines: readonly string[]): Refusal {
  return common(lines) ?? refused("The sidecar's environment could not be made", lines);
}

export function refusePackages(lines: readonly string[]): Refusal {
  return common(lines) ?? refused("The sidecar could not be installed", lines);
}

export function refuseProgram(lines: readonly string[]): Refusal {
  return refused("The sidecar was installed but does not start", lines);
}

export function refuseUnknown(error: unknown): Refusal {
  const reason = error instanceof Error ? error.message : String(error);
  return refusePackages([reason]);
}

export const NOTHING_CARRIED: Refusal = {
  sentence: "This build of the extension carries no sidecar; say in the settings how to start one.",
  remedies: ["Open Settings"],
};

function refuseChosen(python: Python | undefined, chosen: string): Refusal {
  const remedies: Remedy[] = ["Choose Python…", "Open Settings"];
  if (!python) {
    const sentence = `“${chosen}”, which the setting threadline.python names, is no Python that runs outside of the open folders.`;
    return { sentence, remedies };
  }
  if (isNew(python)) return lacksVenv(python);
  return {
    sentence: `Threadline's sidecar needs Python ${OLDEST} or newer; the one that was chosen is ${python.version} (${python.path}).`,
    remedies,
  };
}

function lacksVenv({ path, version }: Python): Refusal {
  const name = `python${version.split(".").slice(0, 2).join(".")}-venv`;
  return {
    sentence: `Python ${version} (${path}) cannot make environments: its venv module is missing, which on Debian and Ubuntu “sudo apt install ${name}” brings.`,
    remedies: ["Try Again", "Choose Python…"],
  };
}

function common(lines: readonly string[]): Refusal | undefined {
  const text = lines.join("\n");
  if (FULL.test(text)) {
    return {
      sentence: "There is not enough room on the disk for the sidecar, which needs some 200 MB.",
      remedies: ["Try Again", "Show Log"],
    };
  }
  if (UNREACHABLE.test(text)) {
    return {
      sentence:
        "The sidecar's packages could not be downloaded: the package index was not reached.",
      remedies: ["Try Again", "Show Log"],
    };
  }
  if (LACKING.test(text) && !FETCHED.test(text)) {
    return {
      sentence: "The sidecar's packages could not be found: the package index does not have them.",
      remedies: ["Try Again", "Choose Python…", "Show Log"],
    };
  }
  return undefined;
}

function refused(what: string, lines: readonly string[]): Refusal {
  return {
    sentence: `${what}: ${reason(lines)}`,
    remedies: ["Try Again", "Choose Python…", "Show Log"],
  };
}

/** What pip calls an error, else whatever was said last. */
function reason(lines: readonly string[]): string {
  const errors = lines.flatMap((line) => SAID.exec(line)?.[1] ?? []);
  const said = errors.at(0) ?? lines.findLast((line) => line.trim() !== "") ?? "it said nothing";
  return said.trim().slice(0, MOST);
}
