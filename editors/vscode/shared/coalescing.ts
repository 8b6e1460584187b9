/** Many wishes, few runs: one soon after a wish, never two at a time, none forgotten. */

export class Coalescer {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running = false;
  private wanted = false;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly delay: number,
  ) {}

  request(): void {
    if (this.running) this.wanted = true;
    else this.timer ??= setTimeout(() => void this.run(), this.delay);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.wanted = false;
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    this.running = true;
    await this.work();
    this.running = false;
    if (!this.wanted) return;
    this.wanted = false;
    this.request();
  }
}
