/** Begins in whatever shows the pages: an editor or a browser. */

import { render } from "preact";
import { App } from "./app";
import { keepFocus } from "./focusing";
import { Browser, mayEnter } from "./sockets";
import { isWebview, Webview } from "./webviews";

const root = document.getElementById("app");
if (root && (isWebview() || mayEnter())) {
  root.replaceChildren();
  keepFocus(document);
  render(<App host={isWebview() ? new Webview() : new Browser()} />, root);
}
