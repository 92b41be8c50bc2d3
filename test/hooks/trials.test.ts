import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findConfinement } from '../../src/providers/confine/find.js';
import { until, untilMatches } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { openTarget, type Target } from '../harness/target.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const confined = { skip: !(await findConfinement({ allowUnconfined: false })) };

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let target: Target;
let desk: Desk;
before(async () => {
  target = await openTarget();
  desk = await openDesk({ config: { egressAllow: [target.address], drainSeconds: 0 } });
});
after(async () => {
  await desk.test.stop();
  target.close();
});

const forward = (path: string, more: object = {}) =>
  desk.hook({
    ...onPath(path),
    action: 'webhook',
    actionConfig: { webhookUrl: target.url, ...more },
  });
const tryOut = (id: string, body: object) => desk.ask('POST', `/api/hooks/${id}/test`, body);
const replay = (id: string, run: string, body: object = {}) =>
  desk.ask('POST', `/api/hooks/${id}/executions/${run}/replay`, body);

describe('test', () => {
  it('runs the hook with a payload of the owner’s', async () => {
    const id = await desk.hook({
      ...onPath('tried'),
      actionConfig: { notifyMessage: '{{event}} {{webhook.body.n}} {{webhook.path}}' },
    });
    const { status, body } = await tryOut(id, { payload: { n: 1 }, event: 'push' });
    expect([status, body.status, body.hookId]).to.equal([202, 'queued', id]);
    const [run] = await desk.ended(id);
    expect(run.id).to.equal(body.id);
    expect(run.result).to.equal({ message: 'push 1 tried' });
    expect(run.triggerContext.webhook).to.equal({
      path: 'tried',
      method: 'POST',
      headers: {},
      body: { n: 1 },
    });
  });

  it('refuses a payload that no sender could send', async () => {
    const id = await desk.hook();
    for (const payload of [null, 5, 'x', true]) {
      const { status, body } = await tryOut(id, { payload });
      expect([status, body.details[0].path]).to.equal([400, 'payload']);
    }
    expect((await tryOut(id, {})).status).to.equal(400);
    expect(await desk.runs(id)).to.equal([]);
  });
});

describe('dryRun', () => {
  it('renders everything, keeps nothing and connects to nothing', async () => {
    const since = target.received.length;
    const dry = async (id: string) => {
      const payload = { n: 1, t: '"' };
      const { status, body } = await tryOut(id, { payload, event: 'push', dryRun: true });
      expect([status, body.wouldRun, body.stoppedBy]).to.equal([200, true, null]);
      expect(await desk.runs(id)).to.equal([]);
      return body.rendered;
    };
    const notified = await dry(await desk.hook({ name: 'n' }));
    expect(notified).to.equal({ title: 'n', body: 'Got 1' });
    const notifyMessage = '**{{webhook.body.t}}**{{webhook.body.u}}';
    const marked = await desk.hook({ name: 'm', actionConfig: { notifyMessage } });
    const payload = { t: '*a*', u: '' };
    const { body } = await tryOut(marked, { payload, dryRun: true });
    expect(body.rendered).to.equal({ title: 'm', body: '***a***', markdown: '**\\*a\\***' });

    const forwarded = await dry(
      await forward('dry', { webhookBody: '{"t":"{{webhook.body.t}}"}' }),
    );
    expect(forwarded).to.include({ method: 'POST', url: target.url, body: '{"t":"\\""}' });
    expect(forwarded.headers).to.include({ 'x-adjutant-event': 'push' });

    const agentPrompt = 'Say it';
    const spawned = await dry(
      await desk.hook({ action: 'spawn_agent', actionConfig: { agentPrompt } }),
    );
    expect(spawned).to.equal({
      prompt: `${agentPrompt}\n\n--- Webhook Payload ---\n{"n":1,"t":"\\""}\nEvent type: push`,
      model: 'digest',
      topic: null,
      tools: [],
    });

    const actionConfig = {
      toolId: 'http',
      toolAction: 'request',
      toolParams: { method: 'GET', url: `${target.url}/{{webhook.body.n}}` },
    };
    const used = await dry(await desk.hook({ action: 'execute_tool', actionConfig }));
    expect(used).to.equal({
      toolId: 'http',
      toolAction: 'request',
      arguments: { method: 'GET', url: `${target.url}/1` },
    });
    expect(target.received).to.have.length(since);
  });

  it('says why the call of a tool would fail', async () => {
    const dry = async (actionConfig: {
      toolId: string;
      toolAction: string;
      toolParams: object;
    }) => {
      const id = await desk.hook({ action: 'execute_tool', actionConfig });
      return (await tryOut(id, { payload: { due: 'soon' }, dryRun: true })).body.rendered;
    };
    const call = { toolId: 'tasks', toolAction: 'create' };
    const toolParams = { title: 'Call', due: '{{webhook.body.due}}' };
    expect(await dry({ ...call, toolParams })).to.equal({
      ...call,
      arguments: { title: 'Call', due: 'soon' },
      fault:
        'tasks.create: due with value "soon" fails to match the YYYY-MM-DD, such as 2026-01-31 pattern',
    });
    const unknown = { toolId: 'tasks', toolAction: 'nothing' };
    expect(await dry({ ...unknown, toolParams: {} })).to.equal({
      ...{ ...unknown, arguments: {} },
      fault: 'Unknown tool: tasks.nothing. Correct toolId and toolAction',
    });
  });

  it('says what would stop the run', async () => {
    const stopped = async (operator: string, value: unknown) => {
      const id = await desk.hook({ conditions: [{ field: 'webhook.body.t', operator, value }] });
      const { body } = await tryOut(id, { payload: { t: `${'a'.repeat(5000)}b` }, dryRun: true });
      expect(body.wouldRun).to.be.false();
      return body.stoppedBy;
    };
    expect(await stopped('exists', false)).to.equal('condition 1: t exists');
    expect(await stopped('matches', '(a+)+$')).to.equal(
      'condition 1: /(a+)+$/ takes more than 25 ms on this payload',
    );
  });
});

describe('replay', () => {
  it('runs a recorded delivery again, as a run of its own', async () => {
    const id = await desk.hook(onPath('again'));
    await desk.deliver('again', '{"n":7}', { headers: { 'x-github-event': 'push' } });
    const [first] = await desk.ended(id);
    const { status, body } = await replay(id, first.id);
    expect([status, body.replayOf, body.status]).to.equal([202, first.id, 'queued']);
    const [second] = await desk.ended(id, 2);
    expect(second).to.include({ id: body.id, status: 'success', deliveryId: first.deliveryId });
    expect(second.triggerContext).to.equal(first.triggerContext);
    expect(second.result).to.equal({ message: 'Got 7' });
  });

  it('repeats an effect outside only when it is forced to', async () => {
    const id = await forward('forced');
    await desk.deliver('forced', '{"n":1}');
    const [first] = await desk.ended(id);
    const refused = await replay(id, first.id);
    expect([refused.status, refused.body.code]).to.equal([409, 'effect_done']);
    expect((await replay(id, first.id, { force: true })).status).to.equal(202);
    const [second] = await desk.ended(id, 2);
    const ids = target.received.slice(-2).map(({ headers }) => headers['webhook-id']);
    expect(ids).to.equal([first.id, second.id]);
  });

  it('is refused while the run is under way', async () => {
    const held: ServerResponse[] = [];
    target.answer = (response) => held.push(response);
    const id = await forward('underway');
    await desk.deliver('underway', '{"n":1}');
    await untilMatches(async () => held, { length: 1 });
    const [run] = await desk.runs(id);
    expect((await replay(id, run.id, { force: true })).status).to.equal(409);
    held[0]?.end('fine');
    expect((await desk.ended(id))[0].status).to.equal('success');
  });
});

describe('a run that the end of the daemon interrupts', () => {
  it(
    'is shown and told, and goes on only when a person says so (needs bubblewrap)',
    confined,
    async () => {
      const headers = { 'webhook-id': 'd-1' };
      const id = await desk.hook({
        ...onPath('cut-off'),
        name: 'cut',
        action: 'execute_tool',
        actionConfig: {
          toolId: 'shell',
          toolAction: 'run',
          toolParams: { argv: ['sh', '-c', 'test -e begun && exit 0; touch begun; sleep 60'] },
        },
      });
      await desk.deliver('cut-off', '{"n":1}', { headers });
      const begun = join(desk.test.home, 'work', desk.owner.id, id, 'begun');
      await until(
        async () => existsSync(begun),
        (isThere) => isThere,
      );
      await desk.test.restart();
      const [run] = await desk.ended(id);
      expect(run).to.include({ status: 'interrupted', attempts: 1, result: null });
      const { body } = await desk.ask('GET', '/api/notifications');
      expect(body.notifications[0]).to.include({
        kind: 'hook_interrupted',
        title: 'cut: interrupted',
      });
      const again = await desk.deliver('cut-off', '{"n":1}', { headers });
      expect(again.body).to.equal({ received: true, duplicate: true, deliveryId: run.deliveryId });
      expect((await replay(id, run.id)).body.code).to.equal('effect_done');
      expect((await replay(id, run.id, { force: true })).status).to.equal(202);
      expect((await desk.ended(id, 2))[0].id).to.not.equal(run.id);
    },
  );

  it('runs again by itself where its effect can tell a repeat', async () => {
    target.received = [];
    target.answer = (response, nth) => nth > 1 && response.end('fine');
    const id = await forward('resumed');
    await desk.deliver('resumed', '{"n":1}');
    await target.got(1);
    await desk.test.restart();
    const [run] = await desk.ended(id);
    expect(run).to.include({ status: 'success', attempts: 2 });
    const ids = target.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.equal([run.id, run.id]);
  });
});
