import { NamedError } from './failure.js';

export class TooMuchEffort extends NamedError {}

export class Effort {
  constructor(private left: number) {}

  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new TooMuchEffort();
  }
}

export const unlimitedEffort = (): Effort => new Effort(Number.POSITIVE_INFINITY);
