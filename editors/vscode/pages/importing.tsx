/** Bringing in what was committed before anybody watched. */

import { useState } from "preact/hooks";
import { importOutcome } from "../shared/histories";
import { useActing, useScene } from "./asking";
import { Button } from "./pieces";

export function ImportHistory() {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [share, setShare] = useState("");
  const scan = (allAuthors: boolean) =>
    act(async () => {
      setShare("");
      const done = await host.request(
        "threadline/scan",
        { project, allAuthors },
        { onProgress: ({ percentage }) => setShare(percentage ? ` ${percentage} %` : "") },
      );
      tell(importOutcome(done), done.imported > 0);
    });
  return (
    <>
      <Button icon="history" kind="primary" isOff={isBusy} onClick={() => scan(false)}>
        {isBusy ? `Importing …${share}` : "Import My Commits"}
      </Button>
      <Button isOff={isBusy} onClick={() => scan(true)}>
        Everyone's
      </Button>
    </>
  );
}
