/** More steps were taken than work on a text may have. */
export class TooMuchEffort extends Error {
  override name = 'TooMuchEffort';
}

/** Steps of work on a text of which nobody can tell before how many it takes. */
export class Effort {
  private left: number;

  constructor(most: number) {
    this.left = most;
  }

  /** TooMuchEffort: no more are left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new TooMuchEffort();
  }
}

export const endless = (): Effort => new Effort(Number.POSITIVE_INFINITY);
