import { NamedError } from './failure.js';

/** The error of work on a text that exceeds its limit of steps. */
export class TooMuchEffort extends NamedError {}

/** A limit of steps, for work on a text whose length cannot be known in advance. */
export class Effort {
  constructor(private left: number) {}

  /** Takes steps from the limit. Throws TooMuchEffort if none are left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new TooMuchEffort();
  }
}

export const unlimitedEffort = (): Effort => new Effort(Number.POSITIVE_INFINITY);
