import { NamedError } from './failure.js';

export class StepLimitExceeded extends NamedError {}

export class StepLimit {
  constructor(private left: number) {}

  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new StepLimitExceeded();
  }
}

export const unlimitedSteps = (): StepLimit => new StepLimit(Number.POSITIVE_INFINITY);
