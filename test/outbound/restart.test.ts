import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { openTarget } from '../harness/target.js';
import { openPlatform, openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const LOST = 'the daemon ended before the answer was recorded';

describe('what was under way when the daemon ended', () => {
  let stage: Stage;
  afterEach(() => stage.test.stop());

  /** Stops the daemon while the platform has yet to answer, and opens it again. */
  const interrupt = async () => {
    stage = await openStage({}, { drainSeconds: 0.05 });
    stage.slack.answer = (_sending, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    await stage.tell('On the way');
    await untilMatches(async () => stage.slack.asked, { length: 1 });
    const again = openPlatform();
    await stage.test.restart();
    inside(stage.test.app).transports.put('slack', again);
    return again;
  };

  it('is unknown, and told, where a repeat would not be known', async () => {
    const again = await interrupt();
    const [message] = await stage.ended('unknown');
    expect(message).to.include({ attempts: 1, error: LOST });
    expect(again.asked).to.equal([]);
    expect(await stage.notifications()).to.include('delivery_unknown');
    expect(await stage.attempts()).to.equal([{ number: 1, verdict: 'unknown', error: LOST }]);
    await until(stage.jobs, (jobs) => jobs.length === 0);
  });

  it('goes again under the same id where the target knows a repeat', async () => {
    const target = await openTarget();
    target.answer = () => undefined;
    stage = await openStage({}, { drainSeconds: 0.05, egressAllow: [target.address] });
    try {
      const { token, id: userId } = stage.owner;
      const body = { name: 'app', url: target.url, events: ['task.completed'] };
      await stage.test.call('POST', '/api/webhooks', { token, body });
      const event = inside(stage.test.app).toWebhooks(userId, { type: 'task.completed', data: {} });
      await stage.test.app.store.transact(event.statements);
      event.published();
      await target.got(1);
      target.answer = (response) => response.end('fine');
      await stage.test.restart();
      const [first, second] = await target.got(2);
      expect(second?.headers['webhook-id']).to.equal(first?.headers['webhook-id']);
      const [message] = await stage.ended('sent');
      expect(message?.attempts).to.equal(2);
      expect(await stage.attempts()).to.equal([
        { number: 1, verdict: 'unknown', error: LOST },
        { number: 2, verdict: 'sent', error: null },
      ]);
    } finally {
      target.close();
    }
  });
});
