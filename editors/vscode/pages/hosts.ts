/** What the pages need of whatever shows them. */

import type { Place } from "../shared/places";
import { type Change, ErrorCode, type Methods } from "../shared/protocol.generated";
import type { Progress, Target } from "../shared/wire";

export interface Asking {
  /** Ends the request before its answer; it then fails. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** That the person has agreed in a dialog; needed for what cannot be undone. */
  readonly isConfirmed?: boolean;
}

export interface Host {
  request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    asking?: Asking,
  ): Promise<Methods[M]["result"]>;
  /** Where to begin. */
  readonly place: Place;
  visit(place: Place): void;
  /** Only where there is an editor to open a file or a commit in. */
  readonly open?: (target: Target) => void;
  readonly changes: Listeners<Change>;
  /** Whether the sidecar can be reached; what was shown before it could not may be old. */
  readonly isLive: boolean;
  /** What a person can do while it cannot; empty where nothing need be done. */
  readonly remedy: string;
  readonly links: Listeners<boolean>;
  readonly places: Listeners<Place>;
  /** That the person wants to type into the search field. */
  readonly searching: Wish;
  /** Whether the page stands in a narrow view that leads elsewhere by itself. */
  readonly isBare: boolean;
  /** Keep something for when the page is shown again. */
  keep(key: string, value: unknown): void;
  kept(key: string): unknown;
}

/** Something that is wanted, maybe before anybody is there to do it. */
export class Wish {
  private listener: (() => void) | undefined;
  private isOpen = false;

  make(): void {
    if (this.listener) this.listener();
    else this.isOpen = true;
  }

  /** Do it from now on, and at once if it is wanted already; until the given function is called. */
  heed(listener: () => void): () => void {
    this.listener = listener;
    if (this.isOpen) listener();
    this.isOpen = false;
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}

export class Listeners<T> {
  private readonly all = new Set<(value: T) => void>();

  /** Hear of everything from now on, until the given function is called. */
  add(listener: (value: T) => void): () => void {
    this.all.add(listener);
    return () => this.all.delete(listener);
  }

  tell(value: T): void {
    for (const listener of [...this.all]) listener(value);
  }
}

/** A request that was not fulfilled, and by which rule. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly code?: number,
  ) {
    super(message);
  }
}

/** Somebody has changed what was to be changed. */
export function isConflict(error: unknown): boolean {
  return error instanceof Refusal && error.code === ErrorCode.CONFLICT;
}

/** Nothing is known by the id that was asked for, or it is none at all. */
export function isMissing(error: unknown): boolean {
  const codes: readonly unknown[] = [ErrorCode.NOT_FOUND, ErrorCode.INVALID_PARAMS];
  return error instanceof Refusal && codes.includes(error.code);
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
  readonly asking: Asking;
}

/**
 * Requests that wait for their answers, each of which comes once. An editor makes a page anew that was
 * hidden, to which answers may still come that the one before it waited for: no two begin at one number.
 */
export class Pending {
  private readonly waiting = new Map<number, Waiting>();
  private last = Math.floor(Math.random() * 2 ** 32) * 2 ** 20;

  /** Wait for an answer; `send` gets the number it will come under, `cancel` when nobody wants it. */
  begin<T>(asking: Asking, send: (id: number) => void, cancel: (id: number) => void): Promise<T> {
    const id = ++this.last;
    asking.signal?.addEventListener("abort", () => this.waiting.has(id) && cancel(id));
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, asking });
      send(id);
    });
  }

  answer(id: number, result: unknown): void {
    this.take(id)?.resolve(result as never);
  }

  fail(id: number, message: string, code?: number): void {
    this.take(id)?.reject(new Refusal(message, code));
  }

  report(id: number, progress: Progress): void {
    this.waiting.get(id)?.asking.onProgress?.(progress);
  }

  failAll(message: string): void {
    for (const id of [...this.waiting.keys()]) this.fail(id, message);
  }

  private take(id: number): Waiting | undefined {
    const found = this.waiting.get(id);
    this.waiting.delete(id);
    return found;
  }
}
