/** Small pictures, drawn with the colour of the text around them. */

const PATHS = {
  thread: "M3 3c0 6 10 4 10 10M3 3.2h.1M8 8h.1M13 12.8h.1",
  timeline: "M2 13h12M4 13V8M8 13V3M12 13V6",
  sessions: "M3 4h10M3 8h10M3 12h6",
  memory: "M8 2.5 13.5 5.5v5L8 13.5 2.5 10.5v-5zM8 8v5.5M8 8 2.6 5.5M8 8l5.4-2.5",
  injection: "M2.5 8h8M7 4.5 10.5 8 7 11.5M13.5 3v10",
  tasks: "M2.5 4.5 4 6l2.5-3M2.5 11 4 12.5l2.5-3M9 4.5h4.5M9 11h4.5",
  inbox: "M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3",
  commit: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M1.5 8h3.7M10.8 8h3.7",
  save: "M3 3h8l2 2v8H3zM5.5 3v3.5h5V3M5.5 13V9.5h5V13",
  capture: "M3 3.5h10v7H7.5L5 13v-2.5H3z",
  pin: "M6 2.5h4l-.5 4 2 2.5h-7l2-2.5zM8 9v4.5",
  edit: "M3 13l.7-3L10.5 3.2 12.8 5.5 6 12.3z",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9",
  retry: "M12.8 6A5.2 5.2 0 1 0 13 9.5M13 3v3.2H9.8",
  spark: "M8 2l1.4 4.6L14 8l-4.6 1.4L8 14l-1.4-4.6L2 8l4.6-1.4z",
  close: "M4 4l8 8M12 4l-8 8",
  compact: "M8 1.5v4M5.8 3.8 8 6l2.2-2.2M8 14.5v-4M5.8 12.2 8 10l2.2 2.2M2.5 8h11",
  check: "M3 8.5 6.5 12 13 4.5",
  warning: "M8 2.5 14 13H2zM8 6.5v3M8 11.2h.1",
  search: "M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8M10 10l3.5 3.5",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  link: "M6.5 9.5l3-3M7 4.8 8.6 3.2a3 3 0 0 1 4.2 4.2L11.2 9M9 11.2l-1.6 1.6a3 3 0 0 1-4.2-4.2L4.8 7",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  add: "M8 3v10M3 8h10",
  back: "M10 3.5 5.5 8l4.5 4.5",
  forth: "M6 3.5 10.5 8 6 12.5",
  down: "M3.5 6 8 10.5 12.5 6",
  useful:
    "M5.5 13.5V7L8 2.5c1 0 1.5.7 1.3 1.7L8.8 6.5h3.7c.7 0 1 .5.9 1.1l-1 5c-.1.5-.5.9-1 .9zM2.5 7.5h3v6h-3z",
  stale: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5v3.2l2 1.3",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  editor: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  agent: "M4 6.5h8v6H4zM8 6.5v-3M6.5 9.2h.1M9.5 9.2h.1M2.2 9v1.5M13.8 9v1.5",
  history: "M3 4.5v2.7h2.7M3.2 7A5 5 0 1 1 3 9.3M8 5.5V8l2 1.5",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5v3l2 1.5",
  stop: "M4.5 4.5h7v7h-7z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
