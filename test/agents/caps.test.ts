import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import type { Reply } from '../harness/openai.js';
import type { ModelOutput } from '../harness/wire.js';
import { mind, type Read } from './mind.js';
import { type Agent, call, enterAs, FINISHED, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const SECRET = 'a secret of some length';

describe('caps', () => {
  let admin: Stage;
  /** In the hands of somebody new, who has spent nothing today. */
  let stage: Stage;
  let cases = 0;
  let think: (read: Read) => ModelOutput | Reply = () => ({ text: 'Done.' });
  before(async () => {
    // A dollar for ten thousand input tokens.
    admin = await startStage({ modelInputPrice: 100, jobConcurrency: 50 });
    admin.model.script(...mind((read) => think(read)));
  });
  beforeEach(async () => {
    cases += 1;
    think = () => ({ text: 'Done.' });
    stage = await enterAs(admin, `spender${cases}`);
  });
  after(() => admin.stop());

  const everyAgent = async (): Promise<Agent[]> => {
    const { body } = await stage.ask('GET', '/api/agents?limit=200');
    return body.agents;
  };
  const allEnd = (count: number): Promise<Agent[]> =>
    until(
      everyAgent,
      (all) => all.length === count && all.every(({ status }) => FINISHED.includes(status)),
    );
  const errors = (agents: Agent[]) => new Set(agents.flatMap(({ error }) => error ?? []));
  const limits = (limits: object) =>
    admin.ask('PATCH', `/api/admin/users/${stage.userId}`, { limits });

  it('lets 200 runs that begin at once make exactly the 10 calls of a user’s day', async () => {
    await limits({ dailySteps: 10 });
    const asked = stage.model.asked.length;
    await Promise.all(Array.from({ length: 200 }, () => stage.spawn({ prompt: 'Spend' })));
    const agents = await allEnd(200);
    expect(stage.model.asked.length - asked).to.equal(10);
    expect(agents.filter(({ status }) => status === 'completed').length).to.equal(10);
    expect(errors(agents)).to.equal(new Set(['the daily limit of 10 steps is reached']));
  });

  it('lets 200 runs of a hook make exactly the 10 calls of the hook’s day', async () => {
    const asked = stage.model.asked.length;
    const hook = await stage.ask('POST', '/api/hooks', {
      name: 'storm',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'storm', webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Look' },
      concurrency: 50,
      limits: { dailySteps: 10, maxSteps: 5 },
    });
    await Promise.all(
      Array.from({ length: 200 }, (_, n) => {
        const body = JSON.stringify({ n });
        const headers = { 'x-hub-signature-256': sign(SECRET, body) };
        return stage.call('POST', '/api/webhooks/storm', { body, headers });
      }),
    );
    const agents = await allEnd(200);
    expect(stage.model.asked.length - asked).to.equal(10);
    expect(errors(agents)).to.equal(new Set(['the daily hook limit of 10 steps is reached']));
    const used = await stage.app.store.db
      .selectFrom('hook_usage')
      .selectAll()
      .where('hook_id', '=', hook.body.id)
      .executeTakeFirst();
    expect(used?.steps).to.equal(10);
    const { body } = await stage.ask('GET', '/api/agents?limit=1');
    expect(body.agents[0].limits).to.equal({
      ...{ maxSteps: 5, maxSeconds: 900, maxTokens: 500_000, maxAnswerTokens: 8192, maxCostUsd: 1 },
      ...{ maxDepth: 2, maxAgents: 8 },
    });
    think = () => ({ text: 'Mine.' });
    const { id } = await stage.spawn({ prompt: 'Not of the hook' });
    expect((await stage.reaches(id)).status).to.equal('completed');
  });

  it('holds those under an agent to what it may cost in all, whoever of them spends it', async () => {
    think = ({ task, results }) => {
      const usage = { input: 4000, output: 1 };
      if (task === 'sub') return { toolCalls: [call('time_now')], usage };
      if (results.length > 0) return { text: results.join('\n'), usage: { input: 10, output: 5 } };
      const order = { prompt: 'sub' };
      return {
        toolCalls: [call('agents_delegate', order, 'a'), call('agents_delegate', order, 'b')],
        usage,
      };
    };
    const { id } = await stage.spawn({ prompt: 'Root', limits: { maxCostUsd: 4 } });
    const root = await stage.reaches(id);
    expect(root.usage.costUsd).to.be.most(4);
    const { body } = await stage.ask('GET', `/api/agents?rootId=${id}`);
    const subs: Agent[] = body.agents.filter((agent: Agent) => agent.id !== id);
    const spent = subs.reduce((sum, { usage }) => sum + usage.costUsd, 0);
    // Of its own it has its first call, and the last one if there was room for that.
    expect(root.usage.costUsd - spent - 0.4).to.be.within(-1e-6, 0.0011);
    expect([...errors(subs)]).to.include('a limit of the parent agent is reached');
    const day = await stage.app.store.db
      .selectFrom('daily_usage')
      .selectAll()
      .where('user_id', '=', stage.userId)
      .executeTakeFirst();
    expect(Number(day?.cost_usd)).to.be.about(root.usage.costUsd, 1e-6);
  });

  it('gives a sub-agent at most what its parent has left', async () => {
    think = ({ task, results }) =>
      task === 'sub' || results.length > 0
        ? { text: 'Done.', usage: { input: 10, output: 10 } }
        : {
            toolCalls: [
              call('agents_delegate', {
                prompt: 'sub',
                limits: { maxSteps: 900, maxSeconds: 5, maxTokens: 90_000_000, maxCostUsd: 0.01 },
              }),
            ],
            usage: { input: 100, output: 50 },
          };
    const { id } = await stage.spawn({ prompt: 'Root', limits: { maxSteps: 7, maxTokens: 9000 } });
    await stage.reaches(id);
    const { body } = await stage.ask('GET', `/api/agents?rootId=${id}`);
    expect(body.agents[0].limits).to.equal({
      maxSteps: 6,
      maxSeconds: 5,
      maxTokens: 8850,
      maxAnswerTokens: 8192,
      maxCostUsd: 0.01,
      maxDepth: 1,
      maxAgents: 8,
    });
  });

  it('counts what was worked side by side once, what was worked in turn together', async () => {
    const { db } = stage.app.store;
    const { id } = await stage.spawn({ prompt: 'Root' });
    await stage.reaches(id);
    const { rows, control } = inside(stage.app);
    const parent = await rows.byId(id);
    const run = async (parentMs: number, activeMs: number): Promise<void> => {
      await db
        .updateTable('agents')
        .set({ status: 'paused', active_ms: 1000 })
        .where('id', '=', id)
        .where('active_ms', '<', 1000)
        .execute();
      const made = await control.spawn({
        ...{ userId: stage.userId, prompt: 'sub', model: 'fake', lane: stage.userId },
        ...{ channel: 'agent', untrusted: false, parentId: parent?.id ?? '' },
        place: { rootId: id, depth: 1, effectId: `${id}_${parentMs}_${activeMs}`, parentMs },
      });
      await db
        .updateTable('agents')
        .set({ active_ms: activeMs })
        .where('id', '=', made.id)
        .execute();
      await stage.reaches(made.id);
    };
    await run(1000, 5000);
    await run(1000, 3000);
    const once = (await rows.byId(id))?.active_ms ?? 0;
    expect(once).to.be.within(6000, 6500);
    await run(once, 2000);
    expect(Number((await rows.byId(id))?.active_ms)).to.be.within(once + 2000, once + 2500);
  });
});
