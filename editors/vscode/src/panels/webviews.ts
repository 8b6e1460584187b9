/** The document that a page is shown in: our own script and style, nothing from elsewhere. */

import { type Place, write } from "../../shared/places";

export interface Sources {
  readonly script: string;
  readonly style: string;
  /** Where the editor serves our files from. */
  readonly origin: string;
}

/** All of the page, or the view alone where there is no room for ways elsewhere. */
export type Frame = "full" | "none";

export function html({ script, style, origin }: Sources, place: Place, frame: Frame): string {
  const policy = [
    "default-src 'none'",
    `script-src ${origin}`,
    `style-src ${origin}`,
    `img-src ${origin}`,
    `font-src ${origin}`,
  ].join("; ");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${attribute(policy)}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="${attribute(style)}">
    <script type="module" src="${attribute(script)}"></script>
  </head>
  <body data-place="${attribute(write(place))}" data-frame="${frame}"><div id="app"></div></body>
</html>
`;
}

function attribute(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
