/** How often a sidecar that dies is brought back before we say that it does not work. */

const MOST = 5;
const WITHIN = 3 * 60_000;

export class RestartBudget {
  private spent: number[] = [];

  /** Take one restart; false when there were too many of late. */
  spend(now: number): boolean {
    this.spent = this.spent.filter((time) => now - time < WITHIN);
    if (this.spent.length >= MOST) return false;
    this.spent.push(now);
    return true;
  }

  renew(): void {
    this.spent = [];
  }
}
