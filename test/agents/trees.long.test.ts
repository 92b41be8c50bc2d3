import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import type { Reply } from '../harness/openai.js';
import type { ModelOutput } from '../harness/wire.js';
import { mind, type Read } from './mind.js';
import { type Agent, call, FINISHED, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

type Approval = { id: string; tool: string; agentId: string };

const delegates = (...orders: object[]): ModelOutput => ({
  toolCalls: orders.map((order, at) => call('agents_delegate', order, `d${at}`)),
});

describe('agents that work for others', () => {
  let stage: Stage;
  let think: (read: Read) => ModelOutput | Reply = () => ({ text: 'Done.' });
  before(async () => {
    stage = await startStage();
    stage.model.script(...mind((read) => think(read)));
  });
  after(() => stage.stop());
  afterEach(async () => {
    const { body } = await stage.ask('GET', '/api/agents?limit=200');
    for (const { id } of body.agents) await stage.ask('DELETE', `/api/agents/${id}`);
  });

  const tree = async (id: string): Promise<Agent[]> =>
    (await stage.ask('GET', `/api/agents?rootId=${id}&limit=200`)).body.agents;
  const pending = async (count: number): Promise<Approval[]> => {
    const { body } = await until(
      () => stage.ask('GET', '/api/chat/approvals?status=pending'),
      (reply) => reply.body.approvals.length === count,
    );
    return body.approvals;
  };
  const answer = (approvalId: string, approved: boolean) =>
    stage.ask('POST', '/api/chat/approve', { approvalId, approved });
  const permit = (level: string) =>
    stage.ask('PUT', '/api/skills/permissions', { skillId: 'agents', action: 'delegate', level });

  it('begin only with the owner’s word where the owner wants to be asked', async () => {
    await permit('ask');
    think = ({ task, results }) => {
      if (task !== 'Root') return { text: `${task}!` };
      if (results.length > 0)
        return { text: results.map((one) => one.split('\n\n').at(-1)).join() };
      return delegates({ prompt: 'yes' }, { prompt: 'no' }, { prompt: 'never' });
    };
    const { id } = await stage.spawn({ prompt: 'Root' });
    const asked = await pending(3);
    expect((await tree(id)).length).to.equal(1);
    const [third, second, first] = asked;
    await answer(first?.id ?? '', true);
    await answer(third?.id ?? '', false);
    await answer(second?.id ?? '', false);
    const denied = 'Denied by the owner. It was not run.';
    expect((await stage.reaches(id)).result).to.equal(`yes!,${denied},${denied}`);
    expect((await tree(id)).length).to.equal(2);
    await stage.ask('DELETE', '/api/skills/permissions/agents/delegate');
  });

  it('are listed with all under them, wherever in the tree they stand', async () => {
    think = ({ task, results }) => {
      if (results.length > 0 || task === 'leaf') return { text: `${task}!` };
      return delegates({ prompt: task === 'Root' ? 'middle' : 'leaf' });
    };
    const { id } = await stage.spawn({ prompt: 'Root' });
    await stage.reaches(id);
    const all = await tree(id);
    expect(all.map(({ result }) => result)).to.equal(['leaf!', 'middle!', 'Root!']);
    const middle = await tree(all[1]?.id ?? '');
    expect(middle.map(({ result }) => result)).to.equal(['leaf!', 'middle!']);
  });

  it('ask the owner while the one above rests, and it goes on after the answer', async () => {
    const post = call('http_request', { method: 'POST', url: 'http://127.0.0.1:9/' });
    think = ({ task, results }) => {
      if (results.length > 0) return { text: results.join(' | ') };
      if (task === 'sub') return { toolCalls: [post] };
      return {
        toolCalls: [call('agents_delegate', { prompt: 'sub' }), { ...post, id: 'own' }],
      };
    };
    const { id } = await stage.spawn({ prompt: 'Root' });
    const asked = await pending(2);
    expect(new Set(asked.map(({ agentId }) => agentId))).to.equal(
      new Set((await tree(id)).map((agent) => agent.id)),
    );
    expect((await tree(id)).map(({ status }) => status)).to.equal([
      'waiting_approval',
      'waiting_approval',
    ]);
    const mine = asked.find(({ agentId }) => agentId === id);
    await answer(mine?.id ?? '', false);
    await stage.reaches(id, 'running');
    await answer(asked.find((one) => one !== mine)?.id ?? '', false);
    const { result } = await stage.reaches(id);
    expect(result).to.match(/^Reply of .*:\n\nDenied by the owner.* \| Denied by the owner/);
  });

  it('fire no hook of their own when they end', async () => {
    for (const trigger of ['agent_completed', 'agent_failed']) {
      await stage.ask('POST', '/api/hooks', {
        ...{ name: trigger, trigger, action: 'notify', triggerConfig: {} },
        actionConfig: { notifyMessage: '{{agent.result}}' },
      });
    }
    think = ({ task, results }) => {
      if (task === 'fails') return { toolCalls: [call('time_now')] };
      if (task === 'sub' || results.length > 0) return { text: task };
      return delegates({ prompt: 'sub' }, { prompt: 'fails', limits: { maxSteps: 1 } });
    };
    const { id } = await stage.spawn({ prompt: 'Root' });
    await stage.reaches(id);
    const { body } = await until(
      () => stage.ask('GET', '/api/notifications'),
      (reply) =>
        reply.body.notifications.some(({ body: said }: { body: string }) => said === 'Root'),
    );
    const said = body.notifications.map((one: { kind: string; body: string }) => one);
    expect(said.filter(({ kind }: { kind: string }) => kind === 'hook_notice').length).to.equal(1);
  });

  for (const verb of ['stop', 'delete']) {
    for (let nth = 1; nth <= 8; nth++) {
      it(`all end when the first is told to ${verb} at question ${nth}`, async () => {
        let asked = 0;
        let id = '';
        let done: Promise<unknown> | undefined;
        const end = () =>
          verb === 'stop'
            ? stage.ask('POST', `/api/agents/${id}/stop`)
            : stage.ask('DELETE', `/api/agents/${id}`);
        think = ({ task, results }) => {
          if (++asked === nth) done = end();
          if (task === 'leaf' || results.length > 0) return { text: task };
          return task === 'middle'
            ? delegates({ prompt: 'leaf' }, { prompt: 'leaf' })
            : delegates({ prompt: 'middle' }, { prompt: 'middle' });
        };
        ({ id } = await stage.spawn({ prompt: 'Root' }));
        await until(
          async () => done,
          (ending) => ending !== undefined,
        );
        await done;
        const { db } = stage.app.store;
        const left = await db
          .selectFrom('agents')
          .select('status')
          .where('status', 'not in', ['completed', 'failed', 'stopped'])
          .execute();
        expect(left).to.equal([]);
        expect(await db.selectFrom('jobs').select('ref').execute()).to.equal([]);
        const status = verb === 'stop' ? (await stage.agent(id)).status : 'stopped';
        expect(FINISHED).to.include(status);
      });
    }
  }
});
