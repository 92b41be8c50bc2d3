import { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { inForeground } from '../../cli/foreground.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

/** Waits until the signals that were sent before are heard: they come in their order. */
const signalsHeard = async (): Promise<void> => {
  const last = once(process, 'SIGUSR2');
  process.kill(process.pid, 'SIGUSR2');
  await last;
};

describe('a program in the foreground', () => {
  let interrupts = 0;
  const count = (): void => void interrupts++;
  beforeEach(() => {
    interrupts = 0;
    process.on('SIGINT', count);
  });
  afterEach(() => void process.off('SIGINT', count));

  it('has its exit code returned, and null where it cannot be started', async () => {
    expect(await inForeground(['sh', '-c', 'exit 3'])).to.equal(3);
    expect(await inForeground(['/nowhere/at/all'])).to.be.null();
  });

  it('has ^C for itself, also one that is heard right after its end', async () => {
    const { emit } = ChildProcess.prototype;
    // Both signals wait together: the end of the child is heard first.
    const emitFirst = function (this: ChildProcess, ...given: unknown[]): boolean {
      const isHeard = Reflect.apply(emit, this, given);
      if (given[0] === 'exit') process.kill(process.pid, 'SIGINT');
      return isHeard;
    };
    Object.assign(ChildProcess.prototype, { emit: emitFirst });
    try {
      await inForeground(['sh', '-c', 'kill -INT $PPID']);
      await signalsHeard();
    } finally {
      Object.assign(ChildProcess.prototype, { emit });
    }
    expect(interrupts).to.equal(0);
  });

  it('leaves ^C to this process afterwards', async () => {
    await inForeground(['true']);
    process.kill(process.pid, 'SIGINT');
    await signalsHeard();
    expect(interrupts).to.equal(1);
  });
});
