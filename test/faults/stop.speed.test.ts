import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { addHook, registerOwner } from '../harness/account.js';
import { startApp } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { hangs, startOpenai } from '../harness/openai.js';
import { readLedger } from './ledger.js';
import { startSenders } from './senders.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SECRET = 'a secret of the stop';

describe('stop', () => {
  it('ends under load: not ready first, begun requests answered, the queue kept, sockets closed', async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-stop-'));
    const daemon = await startDaemon({ home, env: { ADJUTANT_DRAIN_SECONDS: '2' } });
    const owner = await registerOwner(daemon.url);
    const action = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
    await addHook(owner, { name: 'stop', path: 'stop', secret: SECRET, ...action });
    const { token } = await owner.auth.login({
      body: { username: 'owner', password: 'correct horse battery' },
    });
    const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}/ws?token=${token}`);
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    const load = { paths: ['stop'], secret: SECRET, connections: 16 };
    const senders = startSenders({ url: () => daemon.url, ...load });
    await wait(500);

    const since = Date.now();
    const ready = readinessUntilGone(daemon.url);
    const { code, signal } = await daemon.end('SIGTERM');
    const took = Date.now() - since;
    await senders.stop();
    expect({ code, signal }).to.equal({ code: 0, signal: null });
    expect(took).to.be.below(10_000);
    expect(await ready).to.include(503);
    expect(await closed).to.equal(1001);
    expect(senders.reset, 'requests that were begun and then reset').to.equal(0);
    const { executions, integrity } = readLedger(home);
    const kept = senders.acknowledged.flatMap((each) => each.executions);
    expect(kept.filter((id) => !executions.has(id))).to.equal([]);
    expect(integrity).to.equal('ok');
    await rm(home, { recursive: true });
  });
});

describe('a stop', () => {
  it('answers those who wait for news at once, with what there is', async () => {
    const app = await startApp();
    const { token } = await app.register('ada');
    const waiting = app.call('GET', '/api/hooks/executions?after=execution_0&wait=30', { token });
    await app.call('GET', '/health/live');
    const since = performance.now();
    await app.stop();
    const { status, body, headers } = await waiting;
    expect([status, headers.connection, body]).to.equal([
      200,
      'close',
      { executions: [], lastId: 'execution_0' },
    ]);
    expect(performance.now() - since).to.be.below(5000);
  });
});

describe('a stop while a chat is streamed', () => {
  it('ends the stream at once', async () => {
    const model = await startOpenai();
    model.script(hangs);
    const app = await startApp({
      config: { modelUrl: model.baseUrl, modelName: 'fake', drainSeconds: 0 },
    });
    const { token } = await app.register('ada');
    const asked = model.nextAsked();
    const response = await fetch(`${app.url}/api/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ message: 'Hello' }),
    });
    await asked;
    // The stream waits for the model now, up to 15 s.
    await wait(200);
    const since = performance.now();
    await app.stop();
    expect(await response.text()).to.startWith('event: chat\n');
    expect(performance.now() - since).to.be.below(5000);
    await model.stop();
  });
});

/** Every answer of the readiness probe, each on a connection of its own, until there is none. */
const readinessUntilGone = async (url: string): Promise<number[]> => {
  const answers: number[] = [];
  while (true) {
    const response = await fetch(`${url}/health/ready`, { headers: { connection: 'close' } }).catch(
      () => null,
    );
    if (!response) return answers;
    answers.push(response.status);
    await response.arrayBuffer();
    await wait(20);
  }
};
