import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { limitMs, watchLoop } from '../../generated/block.js';
import { until } from '../../harness/app.js';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

/** G16. */
const MAX_TURN_MS = 50;
const TRIES = 6;
const MIB = 1024 * 1024;
/** So many bytes that take long to parse: small lists. */
const lists = (bytes: number): string =>
  `{"n":1,"action":"opened","list":[${'[0],'.repeat(bytes / 4 - 20)}[0]]}`;

describe('a large body', () => {
  it('is verified, judged and rendered like a small one', async () => {
    const fits = await desk.hook({
      ...onPath('large'),
      conditions: [
        { field: 'webhook.body.action', operator: 'matches', value: '^open' },
        { field: 'webhook.body.list', operator: 'contains', value: [0] },
      ],
    });
    const stops = await desk.hook({
      ...onPath('large'),
      conditions: [{ field: 'webhook.body.list', operator: 'equals', value: 'x' }],
    });
    const other = await desk.hook(onPath('large', 'another secret'));
    const body = lists(MIB);
    const { status, body: answer } = await desk.deliver('large', body);
    expect([status, answer.hooks]).to.equal([202, 2]);
    const [run] = await desk.ended(fits);
    expect([run.status, run.result]).to.equal(['success', { message: 'Got 1' }]);
    const [stopped] = await desk.ended(stops);
    const shown = `[${'[0],'.repeat(20)}`.slice(0, 79);
    expect([stopped.status, stopped.error]).to.equal([
      'skipped',
      `condition 1: list is ${shown}…, not equals "x"`,
    ]);
    expect(await desk.runs(other)).to.equal([]);
  });

  it('is answered as a small one where it is no payload, forged or repeated', async () => {
    await desk.hook(onPath('odd'));
    const large = (text: string) => text + ' '.repeat(MIB);
    expect((await desk.deliver('odd', large('{"a":'))).status).to.equal(400);
    expect((await desk.deliver('odd', large('{"__proto__":1}'))).status).to.equal(400);
    expect((await desk.deliver('odd', large('['.repeat(65) + ']'.repeat(65)))).status).to.equal(
      400,
    );
    const broken = Buffer.concat([Buffer.from('["'), Buffer.alloc(MIB, 0xff), Buffer.from('"]')]);
    expect((await desk.deliver('odd', broken)).status).to.equal(400);
    expect((await desk.deliver('odd', large('{}'), { secret: 'x' })).status).to.equal(401);
    expect((await desk.deliver('nowhere', large('{}'))).status).to.equal(404);
    const named = { headers: { 'x-github-delivery': 'd-1' } };
    const first = await desk.deliver('odd', large('{"n":2}'), named);
    const again = await desk.deliver('odd', large('{"n":2}'), named);
    expect([first.status, again.status]).to.equal([202, 200]);
    expect(again.body.deliveryId).to.equal(first.body.deliveryId);
  });

  it('holds the event loop up for less than 50 ms, right or wrong', async () => {
    for (let at = 0; at < 100; at++) await desk.hook(onPath('crowd', `secret ${at}`));
    const id = await desk.hook({
      ...onPath('alone', 'the secret'),
      conditions: [{ field: 'webhook.body.list', operator: 'contains', value: 'bug' }],
    });
    const shown = await desk.hook({
      ...onPath('alone', 'the secret'),
      actionConfig: { notifyMessage: 'Got {{webhook.body.list}}' },
    });
    const text = lists(4 * MIB);
    const body = Buffer.from(new SharedArrayBuffer(text.length));
    body.write(text);
    const signed = (path: string, secret: string) => ({
      url: `${desk.test.url}/api/webhooks/${path}`,
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      },
    });
    const to = [signed('alone', 'the secret'), signed('crowd', 'wrong'), signed('alone', 'wrong')];
    const client = new Worker(new URL('./poster.js', import.meta.url));
    const { db } = desk.test.app.store;
    const runs = db.selectFrom('executions').select(['status', 'error']);
    // On a slow machine the comparison of so many values may take more than it is given.
    const tooSlow = 'condition 1: takes more than 25 ms on this payload';
    const turn = async (): Promise<number> => {
      const loop = watchLoop();
      client.postMessage({ to, body });
      const [statuses] = await once(client, 'message');
      await until(
        () => runs.where('hook_id', 'in', [id, shown]).execute(),
        (all) =>
          all.every(
            ({ status, error }) => ['skipped', 'success'].includes(status) || error === tooSlow,
          ),
      );
      expect(statuses).to.equal([202, 401, 401]);
      return loop.stop().turnMs;
    };
    // What the machine does beside only adds to a turn, so the shortest of some tries counts.
    let least = Number.POSITIVE_INFINITY;
    for (let tried = 0; tried < TRIES && least > limitMs(MAX_TURN_MS); tried++) {
      least = Math.min(least, await turn());
    }
    await client.terminate();
    expect(least).to.be.below(limitMs(MAX_TURN_MS));
  });
});
