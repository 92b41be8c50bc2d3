import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { watchTimeouts } from '../../../src/providers/llm/timeouts.js';
import { type FrozenClock, frozenClock } from '../../harness/clock.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const TIMEOUTS = { firstTokenMs: 120_000, silenceMs: 60_000, totalMs: 300_000 };

describe('watchTimeouts', () => {
  let clock: FrozenClock;
  let watch: ReturnType<typeof watchTimeouts>;
  beforeEach(() => {
    clock = frozenClock();
    watch = watchTimeouts(clock, 'mine', TIMEOUTS);
  });
  const failure = () =>
    watch.signal.aborted && `${watch.signal.reason.kind}: ${watch.signal.reason.message}`;

  it('ends a call without a first token', () => {
    clock.forward(119_999);
    expect(failure()).to.be.false();
    clock.forward(1);
    expect(failure()).to.equal('timeout: mine sent no token within 120 s');
  });

  it('ends a call that falls silent', () => {
    clock.forward(100_000);
    watch.active();
    clock.forward(50_000);
    watch.active();
    clock.forward(59_999);
    expect(failure()).to.be.false();
    clock.forward(1);
    expect(failure()).to.equal('timeout: mine sent no further token for 60 s');
  });

  it('ends a call that is never done', () => {
    for (let passedMs = 0; passedMs < 300_000; passedMs += 30_000) {
      expect(failure()).to.be.false();
      watch.active();
      clock.forward(30_000);
    }
    expect(failure()).to.equal('timeout: mine did not finish within 300 s');
  });

  it('leaves no timer once it is stopped', () => {
    watch.active();
    watch.stop();
    expect(clock.pending()).to.equal([]);
    clock.forward(300_000);
    expect(failure()).to.be.false();
  });
});
