import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findConfinement } from '../../src/providers/confine/find.js';
import { until } from '../harness/app.js';
import { type Desk, notice, onPath, openDesk } from '../harness/hooks.js';
import { openTarget, type Target } from '../harness/target.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const confined = { skip: !(await findConfinement({ allowUnconfined: false })) };

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let target: Target;
let desk: Desk;
before(async () => {
  target = await openTarget();
  desk = await openDesk({ config: { egressAllow: [target.address] } });
});
after(async () => {
  await desk.test.stop();
  target.close();
});

const firstRun = async (id: string) => (await desk.ended(id))[0];
const notices = async (kind: string) =>
  (await desk.ask('GET', '/api/notifications')).body.notifications.filter(
    (each: { kind: string }) => each.kind === kind,
  );
const tool = (path: string, toolId: string, toolAction: string, toolParams: object = {}) =>
  desk.hook({
    ...onPath(path),
    action: 'execute_tool',
    actionConfig: { toolId, toolAction, toolParams },
  });

describe('spawn_agent', () => {
  it('hands the agent the prompt of rule 7, to the letter', async () => {
    const id = await desk.hook({
      ...onPath('prompt'),
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Triage {{webhook.body.n}}', agentTopic: 'support' },
    });
    const body = '{ "n" : 1,\n "é": "\\u00e9" }';
    await desk.deliver('prompt', body, { headers: { 'x-github-event': 'issues' } });
    await desk.ended(id);
    await desk.deliver('prompt', body);
    const [without, withEvent] = await desk.ended(id, 2);
    const promptOf = async ({ agentId }: { agentId: string }) =>
      (await desk.ask('GET', `/api/agents/${agentId}`)).body.prompt;
    const prompt = `Triage {{webhook.body.n}}\n\n--- Webhook Payload ---\n${body}`;
    expect(await promptOf(without)).to.equal(prompt);
    expect(await promptOf(withEvent)).to.equal(`${prompt}\nEvent type: issues`);
  });

  it('makes an untrusted agent of the hook’s, whose outcome the run takes', async () => {
    const id = await desk.hook({
      ...onPath('agent'),
      name: 'triage',
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Say it', agentTopic: 'support', agentModel: 'digest' },
      limits: { maxSteps: 3 },
    });
    await desk.deliver('agent', '{"action":"opened","n":1}');
    const run = await firstRun(id);
    const { body: agent } = await desk.ask('GET', `/api/agents/${run.agentId}`);
    expect(agent).to.include({
      name: `triage-${run.id.slice(-6)}`,
      topic: 'support',
      model: 'digest',
      untrusted: true,
      hookId: id,
      executionId: run.id,
      status: 'completed',
    });
    expect(agent.limits.maxSteps).to.equal(3);
    expect(run).to.include({ status: 'success', error: null, attempts: 1 });
    expect(run.result).to.equal({ text: agent.result });
  });

  it('tells the owner of the end where notifyOwner says so, and only there', async () => {
    const spawn = (path: string, notifyOwner: boolean) =>
      desk.hook({
        ...onPath(path),
        name: path,
        action: 'spawn_agent',
        actionConfig: { agentPrompt: 'Say it', notifyOwner },
      });
    const [loud, quiet] = [await spawn('loud', true), await spawn('quiet', false)];
    await desk.deliver('quiet', '{"n":1}');
    await firstRun(quiet);
    await desk.deliver('loud', '{"n":1}');
    const run = await firstRun(loud);
    const told = (await notices('agent_completed')).filter(({ link }: { link: string }) =>
      link.includes(run.agentId),
    );
    expect(told).to.have.length(1);
    expect(told[0].title).to.match(/^loud-/);
    expect(await notices('agent_completed')).to.have.length(1);
  });

  it('is not run again by a repeat of its delivery', async () => {
    const headers = { 'webhook-id': 'd-1' };
    const id = await desk.hook({
      ...onPath('once'),
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Say it' },
    });
    const { body } = await desk.deliver('once', '{"n":1}', { headers });
    await desk.ended(id);
    const again = await desk.deliver('once', '{"n":1}', { headers });
    expect(again.body).to.equal({
      received: true,
      duplicate: true,
      deliveryId: body.deliveryId,
    });
  });
});

describe('notify', () => {
  it('posts the rendered message to the owner', async () => {
    const id = await desk.hook({
      ...onPath('notice'),
      name: 'shop',
      actionConfig: {
        notifyMessage: 'Order {{webhook.body.id}}\nby {{webhook.body.who}} ({{event}})',
      },
    });
    await desk.deliver('notice', '{"id":7,"who":"<b>"}', { headers: { 'x-gitea-event': 'order' } });
    const run = await firstRun(id);
    const message = 'Order 7\nby <b> (order)';
    expect(run).to.include({ status: 'success', action: 'notify', agentId: null });
    expect(run.result).to.equal({ message });
    const [posted] = await notices('hook_notice');
    expect(posted).to.include({
      title: 'shop',
      body: message,
      link: `/executions/${run.id}`,
      readAt: null,
    });
  });
});

describe('execute_tool', () => {
  it('runs time.now', async () => {
    const id = await tool('time', 'time', 'now', { timezone: '{{webhook.body.zone}}' });
    await desk.deliver('time', '{"zone":"Asia/Tokyo"}');
    const run = await firstRun(id);
    expect(run.status).to.equal('success');
    expect(run.result.timezone).to.equal('Asia/Tokyo');
  });

  it('runs http.request with rendered arguments', async () => {
    const since = target.received.length;
    const id = await tool('http', 'http', 'request', {
      method: 'POST',
      url: `${target.url}/orders/{{webhook.body.n}}`,
      body: '{{webhook.body}}',
    });
    await desk.deliver('http', '{"n":5}');
    expect((await firstRun(id)).result).to.include({ status: 200, body: 'fine' });
    const [received] = (await target.got(since + 1)).slice(since);
    expect(received).to.include({ method: 'POST', path: '/orders/5', body: '{"n":5}' });
  });

  it('fails with the status of the target, and keeps what that said', async () => {
    const url = `${target.url}/down`;
    const read = await tool('read-down', 'http', 'request', { method: 'GET', url });
    const write = await tool('write-down', 'http', 'request', { method: 'POST', url });
    const answer = target.answer;
    target.answer = (response) => response.writeHead(503).end('at lunch');
    await desk.deliver('read-down', '{}');
    await desk.deliver('write-down', '{}');
    const runs = [await firstRun(read), await firstRun(write)];
    target.answer = answer;
    for (const run of runs) {
      expect(run).to.include({ status: 'error', error: '503 from the target' });
      expect(run.result).to.include({ status: 503, body: 'at lunch' });
    }
    const since = new Date(Date.now() - 60_000).toISOString();
    const reasonOf = async (hookId: string) =>
      (await desk.ask('POST', '/api/hooks/executions/replay', { hookId, since, dryRun: true })).body
        .reasons;
    // What only reads has no effect that a replay would repeat.
    expect([await reasonOf(read), await reasonOf(write)]).to.equal([{}, { effect_done: 1 }]);
  });

  it('fails where it is sent on to another address', async () => {
    const url = `${target.url}/moved`;
    const id = await tool('moved', 'http', 'request', { method: 'POST', url, body: 'x' });
    const answer = target.answer;
    target.answer = (response) => response.writeHead(307, { location: 'http://127.0.0.2/' }).end();
    await desk.deliver('moved', '{}');
    const run = await firstRun(id);
    target.answer = answer;
    expect(run.status).to.equal('error');
    expect(run.error).to.match(/^307 from the target: a redirect to http:\/\/127\.0\.0\.2\/,/);
  });

  it('reaches nothing private that is not allowed', async () => {
    const id = await tool('private', 'http', 'request', {
      method: 'GET',
      url: '{{webhook.body.url}}',
    });
    await desk.deliver('private', `{"url":"${desk.test.url}/health"}`);
    const run = await firstRun(id);
    expect(run.status).to.equal('error');
    expect(run.error).to.contain('127.0.0.1');
  });

  it('runs notify.send', async () => {
    const id = await tool('tell', 'notify', 'send', {
      title: 'T',
      message: 'M {{webhook.body.n}}',
    });
    await desk.deliver('tell', '{"n":5}');
    expect((await firstRun(id)).status).to.equal('success');
    const [posted] = await notices('agent_notice');
    expect(posted).to.include({ title: 'T', body: 'M 5' });
  });

  it(
    'runs shell.run for an admin, confined to its folder (needs bubblewrap)',
    confined,
    async () => {
      const argv = ['sh', '-c', 'echo "$0" > seen; pwd; cat seen', '{{webhook.body.x}}'];
      const id = await tool('shell', 'shell', 'run', { argv });
      await desk.deliver('shell', `{"x":"$(id); \`id\`"}`);
      const run = await firstRun(id);
      expect(run).to.include({ status: 'success', error: null });
      expect(run.result).to.include({ exitCode: 0, stderr: '' });
      expect(run.result.stdout.split('\n').slice(1)).to.equal(['$(id); `id`', '']);
    },
  );

  it('refuses shell.run to all others (needs bubblewrap)', confined, async () => {
    const { token } = await desk.test.register('plain');
    const body = notice({
      ...onPath('plain'),
      action: 'execute_tool',
      actionConfig: { toolId: 'shell', toolAction: 'run', toolParams: { argv: ['id'] } },
    });
    const { id } = (await desk.test.call('POST', '/api/hooks', { token, body })).body;
    await desk.deliver('plain', '{}');
    const run = await until(
      async () =>
        (await desk.test.call('GET', `/api/hooks/${id}/executions`, { token })).body.executions[0],
      ({ finishedAt }) => finishedAt !== null,
    );
    expect(run).to.include({
      status: 'error',
      error: 'shell requires the permission "shell". Ask an admin for the permission',
      result: null,
    });
  });

  it('waits for no approval, but does nothing that its owner denied', async () => {
    const set = (action: string, level: string) =>
      desk.ask('PUT', '/api/skills/permissions', { skillId: 'time', action, level });
    const id = await tool('asked', 'time', 'now');
    await set('now', 'ask');
    await desk.deliver('asked', '{}');
    expect((await desk.ended(id))[0].status).to.equal('success');
    await set('*', 'deny');
    await desk.deliver('asked', '{}');
    expect((await desk.ended(id, 2))[0]).to.include({
      status: 'error',
      error: "time.now is denied by its owner's permissions",
    });
    for (const action of ['now', '*']) {
      await desk.ask('DELETE', `/api/skills/permissions/time/${action}`);
    }
  });

  it('ends in error where there is no such tool, or its arguments are wrong', async () => {
    const unknown = await tool('unknown', '__proto__', 'constructor');
    await desk.deliver('unknown', '{}');
    expect((await firstRun(unknown)).error).to.equal(
      'Unknown tool: __proto__.constructor. Correct toolId and toolAction',
    );
    const wrong = await tool('wrong', 'time', 'now', { timezone: '{{webhook.body.zone}}' });
    await desk.deliver('wrong', '{"zone":"Nowhere"}');
    const run = await firstRun(wrong);
    expect(run.status).to.equal('error');
    expect(run.error).to.match(/^time\.now: timezone/);
  });
});
