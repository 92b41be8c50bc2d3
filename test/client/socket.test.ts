import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/client.js';
import { ApiError, Unreachable } from '../../src/client/errors.js';
import { type LiveNote, live } from '../../src/client/socket.js';
import type { Clock } from '../../src/kernel/clock.js';
import { type FrozenClock, frozenClock, startApp, type TestApp, until } from '../harness/app.js';
import { openGate } from '../harness/gate.js';
import { listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Interval of the check for a silent connection. */
const LOOK_MS = 1000;

/** Lets each pause between attempts pass, until the promise settles. */
const passPauses = async <T>(clock: FrozenClock, awaited: Promise<T>): Promise<T> => {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  awaited.then(settle, settle);
  while (!isSettled) {
    const ms = await until(
      async () => clock.pending().find((each) => each !== LOOK_MS) ?? null,
      (pause) => isSettled || pause !== null,
    );
    if (ms !== null) clock.forward(ms);
  }
  return awaited;
};

describe('live', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
  });
  after(() => app.stop());

  /** A stream that is ended with the test's own hand. */
  const opened = (over: { token?: string; url?: string; clock?: Clock } = {}) => {
    const end = new AbortController();
    const stream = live({
      url: app.url,
      token,
      channels: ['agent.status'],
      clock: frozenClock(),
      signal: end.signal,
      ...over,
    });
    const next = async (): Promise<LiveNote> => {
      const { value } = await stream.next();
      if (!value) throw new Error('The stream has ended');
      return value;
    };
    return { stream, next, end };
  };

  it('tells what happens from the moment on that it is connected', async () => {
    const { stream, next } = opened();
    expect(await next()).to.equal({ type: 'connected' });
    const client = createClient({ url: app.url, token });
    const agent = await client.agents.spawn({ body: { prompt: 'Say hello' } });
    const told: unknown[] = [];
    for (let n = 0; n < 3; n++) told.push(await next());
    await stream.return();
    const { events } = await client.agents.events({ id: agent.id });
    const statuses = events.filter(({ type }) => type === 'agent.status');
    expect(told).to.equal(
      statuses.map((data) => ({ type: 'event', channel: 'agent.status', data })),
    );
  });

  it('refuses a token that is not valid', async () => {
    const { next } = opened({ token: 'nonsense' });
    const error = await next().catch((caught: unknown) => caught);
    expect(error).to.be.an.error(ApiError);
    expect(error instanceof ApiError && error.statusCode).to.equal(401);
  });

  it('throws Unreachable where nobody listened from the start', async () => {
    const server = await listen();
    await server.close();
    const error = await opened({ url: server.origin })
      .next()
      .catch((caught: unknown) => caught);
    expect(error).to.be.an.error(
      Unreachable,
      `Cannot reach Adjutant at ${server.origin}: connection refused`,
    );
  });

  it('ends with 401 when its session ends', async () => {
    const { call } = app;
    const login = { username: 'ada', password: 'correct horse battery' };
    const { body } = await call('POST', '/api/auth/login', { body: login });
    const { next } = opened({ token: body.token });
    await next();
    const ended = next().catch((caught: unknown) => caught);
    await call('POST', '/api/auth/logout', { token: body.token });
    const error = await ended;
    expect(error instanceof ApiError && error.statusCode).to.equal(401);
  });

  it('comes back after the daemon was restarted', async () => {
    const clock = frozenClock();
    const { stream, next } = opened({ clock });
    await next();
    await app.restart({ port: Number(new URL(app.url).port) });
    expect(await next()).to.equal({ type: 'lost', reason: 'the server is stopping' });
    expect(await passPauses(clock, next())).to.equal({ type: 'connected' });
    await stream.return();
  });

  it('comes back, however long the daemon was away', async () => {
    const clock = frozenClock();
    const gate = await openGate(app.url);
    const { stream, next } = opened({ url: gate.url, clock });
    expect(await next()).to.equal({ type: 'connected' });
    const refused = gate.refuse(6);
    expect((await next()).type).to.equal('lost');
    expect(await passPauses(clock, next())).to.equal({ type: 'connected' });
    await refused;
    await stream.return();
    gate.close();
  });

  it('takes a jump of the clock for a lost connection', async () => {
    const clock = frozenClock();
    const { stream, next } = opened({ clock });
    await next();
    clock.shift(31_000);
    clock.forward(LOOK_MS);
    expect((await next()).type).to.equal('lost');
    expect(await passPauses(clock, next())).to.equal({ type: 'connected' });
    await stream.return();
  });

  it('takes 40 s without any frame for a lost connection', async () => {
    const clock = frozenClock();
    const { stream, next } = opened({ clock });
    await next();
    const note = next();
    clock.forward(40_000);
    expect(clock.pending()).to.equal([LOOK_MS]);
    clock.forward(LOOK_MS);
    expect((await note).type).to.equal('lost');
    await stream.return();
  });

  it('ends when its signal is aborted', async () => {
    const { next, end } = opened();
    await next();
    const ended = next().catch((caught: unknown) => caught);
    end.abort();
    const error = await ended;
    expect(error instanceof Error && error.name).to.equal('AbortError');
  });
});
