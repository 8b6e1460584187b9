/** What a page inside an editor and the extension tell each other. */

import type { Place } from "./places";
import type { Change, Methods } from "./protocol.generated";

/** What an editor can show and a browser cannot. */
export type Target =
  | { readonly file: string; readonly project: string; readonly line?: number }
  | { readonly commit: string; readonly project: string };

export interface Progress {
  readonly message?: string;
  readonly percentage?: number;
}

export type PageMessage =
  | { readonly kind: "ready" }
  | {
      readonly kind: "request";
      readonly id: number;
      readonly method: keyof Methods;
      readonly params: object;
    }
  | { readonly kind: "cancel"; readonly id: number }
  | { readonly kind: "visit"; readonly place: Place }
  | { readonly kind: "open"; readonly target: Target };

export type HostMessage =
  | { readonly kind: "answer"; readonly id: number; readonly result: unknown }
  | {
      readonly kind: "failure";
      readonly id: number;
      readonly message: string;
      readonly code?: number;
    }
  | { readonly kind: "progress"; readonly id: number; readonly progress: Progress }
  | { readonly kind: "change"; readonly change: Change }
  | { readonly kind: "link"; readonly isLive: boolean }
  | { readonly kind: "show"; readonly place: Place }
  | { readonly kind: "search" };
