import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  // No thread starts in a millisecond, so every task of one takes too long.
  desk = await openDesk({ payloadMs: 1 });
});
after(() => desk.test.stop());

describe('a payload that takes a worker thread too long', () => {
  it('ends its run in error, which is not tried again', async () => {
    const id = await desk.hook({
      ...onPath('poison'),
      conditions: [{ field: 'webhook.body.t', operator: 'matches', value: 'a' }],
    });
    await desk.deliver('poison', '{"t":"a"}');
    const [{ status, error, attempts }] = await desk.ended(id);
    expect([status, error, attempts]).to.equal([
      'error',
      'The payload takes too much time or memory to parse. The execution is not retried. A worker thread ended unexpectedly: it took longer than 0.001 s',
      1,
    ]);
  });
});
