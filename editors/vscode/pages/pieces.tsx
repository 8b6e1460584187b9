/** What every view is made of. */

import type { ComponentChildren } from "preact";
import { moment } from "../shared/formats";
import { type Place, write } from "../shared/places";
import { type Answer, useScene } from "./asking";
import { Icon, type IconName } from "./icons";
import { isPlainClick } from "./keys";
import { pieces } from "./marking";

type Children = { readonly children?: ComponentChildren };

interface EmptyProps extends Children {
  readonly title: string;
  /** What a person can do about it. */
  readonly deeds?: ComponentChildren;
}

export function Empty({ title, deeds, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name="thread" />
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
      {deeds && <div class="empty-deeds">{deeds}</div>}
    </div>
  );
}

/** What is known of an answer that is not there; nothing once it is. */
export function Waiting({ answer }: { readonly answer: Answer<unknown> }) {
  if (answer.problem)
    return (
      <p class="problem" role="alert">
        <Icon name="warning" /> {answer.problem}{" "}
        <button type="button" class="link" onClick={answer.refresh}>
          Try Again
        </button>
      </p>
    );
  return answer.result === undefined ? <p class="muted loading">Loading …</p> : null;
}

interface ButtonProps extends Children {
  readonly icon?: IconName;
  readonly label?: string;
  readonly kind?: "primary" | "plain" | "danger";
  readonly isOff?: boolean;
  readonly onClick: () => void;
}

/** A button; one that shows only a picture is given its words as a label. While it is off it keeps the focus. */
export function Button({
  icon,
  label,
  kind = "plain",
  isOff = false,
  onClick,
  children,
}: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind} ${children ? "" : "bare"}`}
      aria-label={children ? undefined : label}
      title={label}
      aria-disabled={isOff || undefined}
      onClick={isOff ? undefined : onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export function Chip({ tone = "plain", children }: { readonly tone?: Tone } & Children) {
  return <span class={`chip ${tone}`}>{children}</span>;
}

export type Tone = "plain" | "good" | "bad" | "warm" | "accent";

interface SwitchProps<T extends string> {
  readonly label: string;
  readonly name: string;
  readonly value: T;
  readonly choices: readonly T[];
  readonly onChoose: (choice: T) => void;
}

/** One of a few choices, all of which are seen. */
export function Switch<T extends string>({
  label,
  name,
  value,
  choices,
  onChoose,
}: SwitchProps<T>) {
  return (
    <fieldset class="switch">
      <legend class="unseen">{label}</legend>
      {choices.map((choice) => (
        <label key={choice} class={choice === value ? "chosen" : ""}>
          <input
            type="radio"
            name={name}
            class="unseen"
            checked={choice === value}
            onChange={() => onChoose(choice)}
          />
          {choice}
        </label>
      ))}
    </fieldset>
  );
}

export function Moment({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {moment(at, new Date())}
    </time>
  );
}

interface WayProps extends Children {
  readonly to: Place;
  readonly class?: string;
  readonly style?: Readonly<Record<string, string>>;
  readonly tabIndex?: number | undefined;
  readonly "aria-label"?: string;
  readonly "aria-hidden"?: boolean | undefined;
  readonly "aria-current"?: "page" | undefined;
  readonly [data: `data-${string}`]: string;
}

/** A text in which is marked what was searched for. */
export function Marked({ text, query }: { readonly text: string; readonly query: string }) {
  if (!query) return <>{text}</>;
  return (
    <>
      {pieces(text, query).map(({ text, isMatch }, place) =>
        isMatch ? <mark key={place}>{text}</mark> : text,
      )}
    </>
  );
}

/** Leads to another place, as links do; an editor has but one place to open it. */
export function Way({ to, children, ...rest }: WayProps) {
  const { host, project } = useScene();
  const place = { project, ...to };
  const visit = (event: MouseEvent) => {
    if (!host.open && !isPlainClick(event)) return;
    event.preventDefault();
    host.visit(place);
  };
  return (
    <a href={write(place)} onClick={visit} {...rest}>
      {children}
    </a>
  );
}

/** A file's path: opens it where there is an editor. */
export function FilePath({ path, line }: { readonly path: string; readonly line?: number }) {
  const { host, project } = useScene();
  const open = host.open;
  if (!open) return <code class="path">{path}</code>;
  const target = { file: path, project, ...(line === undefined ? {} : { line }) };
  return (
    <button type="button" class="link path" onClick={() => open(target)}>
      {path}
    </button>
  );
}

/** A commit by the beginning of its name: opens it where there is an editor. */
export function CommitName({ sha }: { readonly sha: string }) {
  const { host, project } = useScene();
  const open = host.open;
  const name = sha.slice(0, 8);
  if (!open)
    return (
      <code class="sha" title={sha}>
        {name}
      </code>
    );
  return (
    <button
      type="button"
      class="link sha"
      title={sha}
      onClick={() => open({ commit: sha, project })}
    >
      {name}
    </button>
  );
}
