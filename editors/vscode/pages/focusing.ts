/** Where the keyboard is when what had the focus is taken away or moved: nobody has to begin anew. */

const AROUND = "article, li, form, section, header, main";
const FOCUSABLE = 'a[href], button, input, select, textarea, [tabindex="0"]';

interface Focused {
  readonly element: HTMLElement;
  /** What stands around it and beside that, the nearest first. */
  readonly heirs: readonly Element[];
}

/** From now on the focus goes to the nearest thing that is left; who points elsewhere ends that. */
export function keepFocus(page: Document): void {
  let last: Focused | undefined;
  page.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) last = { element: target, heirs: heirsOf(target) };
  });
  page.addEventListener("pointerdown", ({ target }) => {
    if (!(target instanceof Node && last?.element.contains(target))) last = undefined;
  });
  new MutationObserver(() => {
    if (last && page.activeElement === page.body) pass(last);
  }).observe(page.body, { childList: true, subtree: true });
}

function pass({ element, heirs }: Focused): void {
  if (element.isConnected) element.focus();
  else heirs.filter(({ isConnected }) => isConnected).some(take);
}

/** Whether there is something in it that takes the focus; a page has its heading. */
function take(heir: Element): boolean {
  const isPage = heir.matches("main");
  const found = heir.querySelector<HTMLElement>(isPage ? "h2" : FOCUSABLE);
  const target = found ?? (isPage ? (heir as HTMLElement) : undefined);
  if (target && isPage) target.tabIndex = -1;
  target?.focus({ preventScroll: true });
  return target !== undefined && target === document.activeElement;
}

function heirsOf(element: Element): Element[] {
  const around = element.parentElement?.closest(AROUND);
  if (!around) return [];
  const beside = around.matches("main")
    ? []
    : [around.nextElementSibling, around.previousElementSibling];
  return [around, ...beside.filter((one) => one !== null), ...heirsOf(around)];
}
