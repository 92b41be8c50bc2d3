import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Webhook } from 'standardwebhooks';
import { startStage } from '../agents/stage.js';
import { sign, until } from '../harness/app.js';
import { says } from '../harness/openai.js';
import { openTarget } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SECRET = 'a secret of the sender';
const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('a signed delivery', () => {
  it('runs an agent once, whose result its owner gets in the app and by a signed webhook', async () => {
    const target = await openTarget();
    const stage = await startStage({ egressAllow: [target.address] });
    stage.model.script(says({ text: 'A bug in the parser.' }));
    const { body: hook } = await stage.ask('POST', '/api/hooks', {
      name: 'triage',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'issues', webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Classify the issue', notifyOwner: true },
    });
    const endpoint = { name: 'app', url: target.url, events: ['agent.completed'] };
    await stage.ask('POST', '/api/webhooks', { ...endpoint, secret: SIGNING });

    const body = '{"action": "opened", "issue": {"title": "It fails"}}';
    const deliver = (secret: string) =>
      stage.call('POST', '/api/webhooks/issues', {
        body,
        headers: { 'x-hub-signature-256': sign(secret, body), 'x-github-delivery': 'delivery-1' },
      });
    expect((await deliver('another secret')).status).to.equal(401);
    const accepted = await deliver(SECRET);
    expect(accepted.status).to.equal(202);
    const again = await deliver(SECRET);
    const { deliveryId, executions } = accepted.body;
    expect([again.status, again.body]).to.equal([
      200,
      { received: true, duplicate: true, deliveryId },
    ]);

    const [received] = await target.got(1);
    const headers = Object.entries(received?.headers ?? {}).map(([name, value]) => [
      name,
      `${value}`,
    ]);
    const event = new Webhook(SIGNING).verify(received?.body ?? '', Object.fromEntries(headers));
    expect(event).to.include({ type: 'agent.completed' });
    expect(event).to.include({
      data: { ...Object(event).data, result: 'A bug in the parser.', untrusted: true },
    });
    const path = `/api/hooks/${hook.id}/executions`;
    const { body: runs } = await until(
      () => stage.ask('GET', path),
      (reply) => reply.body.executions[0].status === 'success',
    );
    expect(runs.executions.map(({ id }: { id: string }) => id)).to.equal(executions);
    const { notifications } = (await stage.ask('GET', '/api/notifications')).body;
    expect(
      notifications.map(({ kind, body: text }: { kind: string; body: string }) => [kind, text]),
    ).to.equal([['agent_completed', 'A bug in the parser.']]);
    expect(stage.model.asked.length).to.equal(1);
    expect(JSON.stringify(stage.model.asked[0]?.body.messages)).to.contain('It fails');
    await stage.stop();
    target.close();
  });
});
