import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from './harness/app.js';
import { onPath, openDesk } from './harness/hooks.js';
import { openTarget } from './harness/target.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a clean stop', () => {
  it('fails readiness first, ends what runs, and keeps what is acknowledged meanwhile', async () => {
    const target = await openTarget();
    const held: ServerResponse[] = [];
    target.answer = (response) => held.push(response);
    const config = { egressAllow: [target.address], drainSeconds: 600 };
    const desk = await openDesk({ config });
    const action = { action: 'webhook', actionConfig: { webhookUrl: target.url } };
    const [running, waiting] = [
      await desk.hook({ ...onPath('running'), ...action }),
      await desk.hook({ ...onPath('waiting'), ...action }),
    ];
    await desk.deliver('running', '{"n":1}');
    await target.got(1);

    const ready = async () => (await desk.test.call('GET', '/health/ready')).status;
    expect(await ready()).to.equal(200);
    const closed = desk.test.app.close();
    expect(await ready()).to.equal(503);
    const accepted = await desk.deliver('waiting', '{"n":2}');
    expect(accepted.status).to.equal(202);
    held[0]?.end('fine');
    await closed;
    expect(target.received.length).to.equal(1);

    target.answer = (response) => response.end('fine');
    await desk.test.restart();
    const [first] = await desk.runs(running);
    expect([first.status, first.attempts]).to.equal(['success', 1]);
    const [second] = await desk.ended(waiting);
    expect([second.status, [second.id]]).to.equal(['success', accepted.body.executions]);
    await untilMatches(async () => target.received.length, 2);
    await desk.test.stop();
    target.close();
  });
});
