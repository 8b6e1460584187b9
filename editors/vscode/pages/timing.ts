/** Waiting until somebody has finished typing. */

import { useEffect, useState } from "preact/hooks";

/** The value as it was when it had not changed for so many milliseconds; at once where it is empty. */
export function useSettled(value: string, delay: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === "") {
      setSettled(value);
      return;
    }
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return settled;
}
