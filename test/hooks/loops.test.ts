import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { type Desk, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { openTarget } from '../harness/target.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const NOTICE = { actionConfig: { notifyMessage: 'Again' } };
const BROKEN = (hops: number) => `loop: the trigger has passed through this daemon ${hops} times`;

describe('a loop', () => {
  let desk: Desk;
  before(async () => {
    desk = await openDesk({ config: { egressAllow: ['127.0.0.1'] } });
  });
  beforeEach(() => desk.arrive());
  after(() => desk.test.stop());

  const hook = (name: string, more: object): Promise<string> =>
    desk.hook({ name, triggerConfig: { webhookPath: name, webhookSecret: SECRET }, ...more });
  /** The way to a hook by its id, with its secret. */
  const incoming = (id: string) => ({
    webhookUrl: `${desk.test.url}/api/hooks/incoming/${id}`,
    webhookHeaders: { 'X-Webhook-Secret': SECRET, 'X-Adjutant-Hops': '0' },
  });
  /** How its runs ended, oldest first, once one was stopped and nothing is under way. */
  const ended = async (id: string): Promise<unknown[]> => {
    await until(
      () => desk.runs(id),
      (runs) => runs.some(({ status }) => status === 'skipped'),
    );
    await until(
      async () => inside(desk.test.app).queue.totals(),
      ({ waiting, running }) => waiting + running === 0,
    );
    const runs = await desk.runs(id);
    return runs.map(({ status, error }) => [status, error] as const).reverse();
  };
  const told = async (): Promise<string[]> => {
    const { notifications } = (await desk.ask('GET', '/api/notifications?kind=hook_loop')).body;
    for (const { link } of notifications) {
      expect(link).to.match(/^\/executions\?hookId=hook_\w{26}$/);
    }
    return notifications.map(({ title }: { title: string }) => title);
  };
  const times = (count: number, hops = 10) => [
    ...Array.from({ length: count }, () => ['success', null]),
    ['skipped', BROKEN(hops)],
  ];

  it('of an outgoing webhook at one’s own hook is broken at ten, and its owner told', async () => {
    const id = await hook('round', NOTICE);
    const url = `${desk.test.url}/api/webhooks/round`;
    const webhook = { name: 'self', url, events: ['*'], secret: SECRET };
    expect((await desk.ask('POST', '/api/webhooks', webhook)).status).to.equal(201);
    await desk.ask('POST', `/api/hooks/${id}/test`, { payload: {} });
    expect(await ended(id)).to.equal(times(10));
    expect(await told()).to.equal(['round: loop stopped']);
  });

  it('of a forward is broken, whatever its headers say, and told once an hour', async () => {
    const id = await hook('circle', NOTICE);
    await desk.ask('PUT', `/api/hooks/${id}`, { action: 'webhook', actionConfig: incoming(id) });
    await desk.ask('POST', `/api/hooks/${id}/test`, { payload: {} });
    expect(await ended(id)).to.equal(times(10));
    const [last] = await desk.runs(id);
    await desk.ask('POST', `/api/hooks/${id}/executions/${last.id}/replay`, {});
    await until(
      () => desk.runs(id),
      (runs) => runs.filter(({ status }) => status === 'skipped').length === 2,
    );
    expect(await ended(id)).to.equal([...times(10), ...times(10)]);
    expect(await told()).to.equal(['circle: loop stopped']);
  });

  it('over agents and the hooks that their ends fire is broken', async () => {
    const agents = await hook('agents', {
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Look' },
    });
    await desk.hook({
      name: 'ends',
      trigger: 'agent_completed',
      triggerConfig: {},
      action: 'webhook',
      actionConfig: incoming(agents),
    });
    await desk.ask('POST', '/api/agents', { prompt: 'Begin' });
    // From an agent to the hook, and from there to the next agent: two each time.
    expect(await ended(agents)).to.equal(times(4));
    expect(await told()).to.equal(['agents: loop stopped']);
  });

  it('of a hook’s tool is broken', async () => {
    const id = await hook('tool', NOTICE);
    const { webhookUrl: url, webhookHeaders } = incoming(id);
    const headers = { ...webhookHeaders, 'content-type': 'application/json' };
    await desk.ask('PUT', `/api/hooks/${id}`, {
      action: 'execute_tool',
      actionConfig: {
        ...{ toolId: 'http', toolAction: 'request' },
        toolParams: { method: 'POST', url, headers, body: '{}' },
      },
    });
    await desk.ask('POST', `/api/hooks/${id}/test`, { payload: {} });
    expect(await ended(id)).to.equal(times(10));
  });

  it('is told from work that came back less often, and from nonsense', async () => {
    const target = await openTarget();
    const id = await hook('sink', {
      action: 'webhook',
      actionConfig: { webhookUrl: `${target.url}/sink` },
    });
    const given = ['9', '0', '-1', '1e3', '99999', 'ten', ''];
    for (const [n, hops] of given.entries()) {
      const headers = { 'x-adjutant-hops': hops };
      await desk.deliver('sink', JSON.stringify({ n }), { headers, secret: SECRET });
      await target.got(n + 1);
    }
    const onward = target.received.map(({ headers }) => headers['x-adjutant-hops']);
    expect(onward).to.equal(['10', '1', '1', '1', '1', '1', '1']);
    const headers = { 'x-adjutant-hops': '4711' };
    await desk.deliver('sink', '{}', { headers, secret: SECRET });
    expect((await desk.ended(id, 8))[0]).to.include({ status: 'skipped', error: BROKEN(4711) });
    target.close();
  });
});
