import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHealth } from '../../src/models/health.js';
import { ModelFailure, type ModelFailureKind } from '../../src/providers/llm/model.js';
import { type FrozenClock, frozenClock } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const SECOND = 1000;

const M = { name: 'm', provider: 'llama' as const, modelId: 'there' };

describe('createHealth()', () => {
  let clock: FrozenClock;
  let health: ReturnType<typeof createHealth>;
  const warned: unknown[] = [];
  beforeEach(() => {
    clock = frozenClock();
    warned.length = 0;
    health = createHealth({
      clock,
      log: { warn: (...said: unknown[]) => void warned.push(said) },
      lost: ({ modelId }) => (modelId === 'gone' ? 'The model file is missing: gone' : null),
    });
  });

  const fail = (kind: ModelFailureKind, retryAfterMs?: number): void => {
    expect(health.begin('m')).to.be.null();
    health.failed('m', new ModelFailure(kind, `m failed: ${kind}`, retryAfterMs));
  };
  const status = () => {
    const { status, circuit } = health.of(M);
    return `${status} ${circuit}`;
  };

  it('knows nothing at first', () => {
    expect(health.of(M)).to.equal({
      status: 'unknown',
      latencyMs: null,
      lastError: null,
      checkedAt: null,
      circuit: 'closed',
      retryAt: null,
    });
    expect(health.begin('m')).to.be.null();
  });

  it('remembers the last answer', () => {
    fail('server');
    health.replied('m', 120);
    expect(health.of(M)).to.equal({
      status: 'up',
      latencyMs: 120,
      lastError: null,
      checkedAt: '2026-03-01T12:00:00.000Z',
      circuit: 'closed',
      retryAt: null,
    });
  });

  it('opens the circuit at the third failure in a row, and closes it with an answer', () => {
    fail('server');
    fail('refused_connection');
    expect(status()).to.equal('down closed');
    fail('invalid_reply');
    expect(status()).to.equal('down open');
    expect(health.begin('m')).to.equal(
      'not called after failures, 30 s left: m failed: invalid_reply',
    );
    clock.forward(30 * SECOND);
    expect(status()).to.equal('down half_open');
    expect(health.begin('m')).to.be.null();
    health.replied('m', 5);
    expect(status()).to.equal('up closed');
  });

  it('lets one call alone try a model that failed', () => {
    for (let n = 0; n < 3; n++) fail('server');
    clock.forward(30 * SECOND);
    expect([health.begin('m'), health.begin('m')]).to.equal([
      null,
      'another call tests it after failures',
    ]);
    health.released('m');
    expect(health.begin('m')).to.be.null();
  });

  it('waits twice as long after each further failure, at most ten minutes', () => {
    const waits = Array.from({ length: 8 }, () => {
      while (health.refusal('m') === null) fail('server');
      const { retryAt } = health.of(M);
      const waitMs = Date.parse(retryAt ?? '') - clock.now();
      clock.forward(waitMs);
      return waitMs / SECOND;
    });
    expect(waits).to.equal([30, 60, 120, 240, 480, 600, 600, 600]);
  });

  it('leaves a model that hangs alone at once', () => {
    fail('timeout');
    expect(status()).to.equal('down open');
  });

  it('lets a model cool that asks for it, for as long as it asks', () => {
    fail('rate_limited', 7 * SECOND);
    expect(status()).to.equal('cooling open');
    const said = { model: 'm', seconds: 7, because: 'rate_limited' };
    expect(warned).to.equal([[said, 'model is cooling down']]);
    expect(health.refusal('m')).to.equal('cooling down, 7 s left: m failed: rate_limited');
    clock.forward(7 * SECOND);
    expect(status()).to.equal('down half_open');
    fail('server', 90 * SECOND);
    expect(health.refusal('m')).to.match(/^cooling down, 90 s left/);
    clock.forward(90 * SECOND);
    fail('rate_limited', 9_999_999 * SECOND);
    expect(health.refusal('m')).to.match(/^cooling down, 86400 s left/);
  });

  it('lets it cool for a minute, then longer, where it names no time', () => {
    fail('rate_limited');
    expect(health.refusal('m')).to.match(/^cooling down, 60 s left/);
    clock.forward(60 * SECOND);
    fail('rate_limited');
    expect(health.refusal('m')).to.match(/^cooling down, 120 s left/);
  });

  it('blames no model for a prompt or for being stopped', () => {
    for (let n = 0; n < 5; n++) {
      for (const kind of ['bad_request', 'context_length', 'aborted'] as const) fail(kind);
    }
    expect(status()).to.equal('unknown closed');
  });

  it('forgets the past of a model that was changed', () => {
    fail('timeout');
    health.forget('m');
    expect(status()).to.equal('unknown closed');
  });

  it('is down while its file is gone, whatever its calls have shown', () => {
    health.replied('m', 120);
    expect(health.of(M).status).to.equal('up');
    const gone = health.of({ ...M, modelId: 'gone' });
    expect([gone.status, gone.lastError]).to.equal(['down', 'The model file is missing: gone']);
  });
});
