/** Exactly what is injected. */

import type { Rendered } from "../../../shared/protocol.generated";
import { useActing, useScene } from "../../asking";
import { Button, Empty } from "../../pieces";

export function AsText({ rendered }: { readonly rendered: Rendered }) {
  const { tell } = useScene();
  const { act, isBusy } = useActing();
  if (!rendered.text) return <Empty title="Nothing would be injected." />;
  const copy = () =>
    act(async () => {
      await navigator.clipboard.writeText(rendered.text);
      tell("Copied.", true);
    });
  return (
    <section class="as-text" aria-label="As text">
      <Button icon="copy" isOff={isBusy} onClick={() => void copy()}>
        Copy
      </Button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has only a keyboard must be able to scroll it. */}
      <pre tabIndex={0}>{rendered.text}</pre>
    </section>
  );
}
