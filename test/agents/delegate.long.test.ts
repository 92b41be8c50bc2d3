import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { hangs, type Reply, says } from '../harness/openai.js';
import type { ModelOutput } from '../harness/wire.js';
import { mind, type Read, readOf } from './mind.js';
import { type Agent, call, removeAgents, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

type Sub = Agent & {
  name: string;
  parentId: string;
  role: string | null;
  prompt: string;
  untrusted: boolean;
  topic: string | null;
  limits: Record<string, number>;
};

const delegates = (...orders: object[]): ModelOutput => ({
  toolCalls: orders.map((order, at) => call('agents_delegate', order, `d${at}`)),
});

describe('agents.delegate', () => {
  let stage: Stage;
  let think: (read: Read) => ModelOutput | Reply = () => ({ text: 'Done.' });
  before(async () => {
    stage = await startStage({ jobConcurrency: 2, egressAllow: ['127.0.0.1'] });
    stage.model.script(...mind((read) => think(read)));
  });
  after(() => stage.stop());
  afterEach(() => removeAgents(stage));

  /** Those under an agent, oldest first. */
  const subs = async (id: string): Promise<Sub[]> => {
    const { body } = await stage.ask('GET', `/api/agents?rootId=${id}`);
    return body.agents.filter((agent: Agent) => agent.id !== id).reverse();
  };
  const reach = (id: string, count: number, status: string): Promise<Sub[]> =>
    until(
      () => subs(id),
      (all) => all.filter((sub) => sub.status === status).length === count,
    );

  it('brings the answers of sub-agents that work side by side back as results', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held =
      (said: ModelOutput): Reply =>
      (...of) =>
        void released.then(() => says(said)(...of));
    think = ({ task, results }) => {
      if (task !== 'Both') return held({ text: `I did ${task}`, usage: { input: 7, output: 3 } });
      if (results.length > 0) return { text: results.join(' | ') };
      return delegates({ prompt: 'left' }, { prompt: 'right', expert: 'writer' });
    };
    const { id, sessionId } = await stage.spawn({ prompt: 'Both' });
    const [waits] = await until(
      async () => (await stage.events(id)).filter(({ data }) => data.waitingFor),
      ({ length }) => length === 1,
    );
    release();
    const parent = await stage.reaches(id);
    const [left, right] = await subs(id);
    expect(parent.result).to.equal(
      `Reply of ${left?.name} (${left?.id}):\n\nI did left | Reply of ${right?.name} (${right?.id}):\n\nI did right`,
    );
    expect([left?.parentId, left?.role, left?.status]).to.equal([id, null, 'completed']);
    expect([right?.role, right?.topic]).to.equal(['writer', 'writer']);
    expect(left?.limits).to.include({ maxSteps: 49, maxDepth: 1, maxAgents: 8 });
    expect(left?.sessionId).to.not.equal(sessionId);
    // Two questions of its own, and what those under it used up.
    expect(parent.usage).to.include({ inputTokens: 10 + 10 + 7 + 7, outputTokens: 5 + 5 + 3 + 3 });
    expect(parent.steps).to.equal(2);
    expect(waits?.data.waitingFor).to.equal([
      { id: left?.id, name: left?.name, role: null },
      { id: right?.id, name: right?.name, role: 'writer' },
    ]);
  });

  it('says of a result that it was cut off', async () => {
    think = ({ task, results }) => {
      if (task !== 'All') return { text: 'The first of', finish: 'length' };
      return results.length > 0 ? { text: String(results[0]) } : delegates({ prompt: 'list' });
    };
    const { id } = await stage.spawn({ prompt: 'All' });
    expect(String((await stage.reaches(id)).result)).to.endWith(
      ":\n\nThe first of\n\nThe reply was cut off at the model's output limit.",
    );
  });

  it('tells a sub-agent its part, its place and the task in full', async () => {
    const systems: string[] = [];
    think = ({ task, system, results }) => {
      systems.push(system);
      if (system.includes('Another agent')) return { text: `Read: ${task}` };
      return results[0] === undefined
        ? delegates({ prompt: 'Look.', withTask: true, expert: 'Analyst ' })
        : { text: results[0] };
    };
    const { id } = await stage.spawn({ prompt: 'Add up 1, 2' });
    await stage.reaches(id);
    const [sub] = await subs(id);
    expect(sub?.prompt).to.equal('Look.\n\nAdd up 1, 2');
    expect(systems[1]).to.contain('You act as the expert "analyst":');
    expect(systems[2]).to.not.contain('You act as');
  });

  it('says what it refuses, and the agent goes on', async () => {
    const orders = [
      {},
      { prompt: 'x', expert: 'plumber' },
      { prompt: 'x', limits: { maxSteps: 0 } },
    ];
    think = ({ results }) =>
      results.length === 3 ? { text: results.join('\n') } : delegates(...orders);
    const { id } = await stage.spawn({ prompt: 'Try' });
    const lines = String((await stage.reaches(id)).result).split('\n');
    expect(lines[0]).to.match(/^agents\.delegate: .*prompt.*withTask/);
    expect(lines[1]).to.equal(
      'agents.delegate: unknown expert. Available experts: triage, engineer, operations, writer, researcher, analyst',
    );
    expect(lines[2]).to.contain('limits.maxSteps');
    expect(await subs(id)).to.equal([]);
  });

  it('keeps to the depth and the number of the whole tree', async () => {
    const tools: string[][] = [];
    think = ({ task, results, tools: offered }) => {
      if (task === 'leaf' || results.length > 0) {
        tools.push(task === 'leaf' ? offered : []);
        return { text: results.at(-1) ?? 'leaf' };
      }
      if (task === 'middle') return delegates({ prompt: 'leaf' });
      return delegates({ prompt: 'middle' }, { prompt: 'middle' }, { prompt: 'middle' });
    };
    const { id } = await stage.spawn({ prompt: 'Deep', limits: { maxAgents: 4, maxDepth: 2 } });
    await stage.reaches(id);
    const all = await subs(id);
    expect(all.length).to.equal(4);
    expect(tools.flat().length).to.be.above(0);
    expect(tools.flat()).to.not.contain('agents_delegate');
    const middles = all.filter(({ prompt }) => prompt === 'middle');
    const refused = middles.filter(({ result }) =>
      result?.includes('the limit of 4 sub-agents for the whole task is reached'),
    );
    expect([middles.length, refused.length]).to.equal([3, 2]);
  });

  it('does not hang where all who may run wait for others', async () => {
    think = ({ task, results }) =>
      task === 'sub' || results.length > 0
        ? { text: results[0] ?? 'sub' }
        : delegates({ prompt: 'sub' });
    const parents = await Promise.all(
      Array.from({ length: 20 }, () => stage.spawn({ prompt: 'Delegate' })),
    );
    const ended = await Promise.all(parents.map(({ id }) => stage.reaches(id)));
    expect(new Set(ended.map(({ status }) => status))).to.equal(new Set(['completed']));
    expect(inside(stage.app).queue.totals()).to.equal({ waiting: 0, running: 0 });
  });

  it('finishes what was begun before it begins with what waits', async () => {
    const order: string[] = [];
    think = ({ task, results }) => {
      if (results.length === 0 && task !== 'sub') return delegates({ prompt: 'sub' });
      order.push(task);
      return { text: task };
    };
    const spawned = [];
    for (let n = 0; n < 6; n++) spawned.push(await stage.spawn({ prompt: `Root ${n}` }));
    await Promise.all(spawned.map(({ id }) => stage.reaches(id)));
    // With two at a time, the first root reports before the last one has begun.
    expect(order.indexOf('Root 0')).to.be.below(order.lastIndexOf('sub'));
  });

  /** A root with two sub-agents, one of which has one of its own; the lowest two hang. */
  const hanging = async (): Promise<{ id: string; under: Sub[] }> => {
    think = ({ task, results }) => {
      if (task === 'leaf') return hangs;
      if (results.length > 0) return { text: results.join('\n') };
      return task === 'middle'
        ? delegates({ prompt: 'leaf' })
        : delegates({ prompt: 'middle' }, { prompt: 'leaf' });
    };
    const asked = stage.model.asked.length;
    const { id } = await stage.spawn({ prompt: 'Root' });
    await untilMatches(async () => stage.model.asked.length - asked, 4);
    return { id, under: await reach(id, 3, 'running') };
  };
  /** True for each request that hangs and was given up. Picked by task: their order varies. */
  const gone = (count: number) => {
    const leaves = stage.model.asked.filter(({ body }) => readOf(body).task === 'leaf');
    return Promise.all(leaves.slice(-count).map(({ gone }) => gone));
  };

  it('stops all under an agent that is stopped', async () => {
    const { id, under } = await hanging();
    expect((await stage.ask('POST', `/api/agents/${id}/stop`)).body.status).to.equal('stopped');
    expect(await gone(2)).to.equal([true, true]);
    expect((await subs(id)).map(({ status }) => status)).to.equal([
      'stopped',
      'stopped',
      'stopped',
    ]);
    for (const { id: sub } of under) {
      expect((await stage.events(sub)).at(-1)?.data).to.equal({ status: 'stopped', error: null });
    }
    expect(await stage.app.store.db.selectFrom('jobs').select('id').execute()).to.equal([]);
  });

  it('pauses and resumes all under an agent with it', async () => {
    const { id } = await hanging();
    await stage.ask('POST', `/api/agents/${id}/pause`);
    expect(await gone(2)).to.equal([true, true]);
    expect((await subs(id)).map(({ status }) => status)).to.equal(['paused', 'paused', 'paused']);
    think = ({ results }) => ({ text: results[0]?.split('\n\n').at(-1) ?? 'At last.' });
    await stage.ask('POST', `/api/agents/${id}/resume`);
    expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'At last.' });
    expect((await reach(id, 3, 'completed')).length).to.equal(3);
  });

  it('removes all under an agent that is removed', async () => {
    const { id, under } = await hanging();
    expect((await stage.ask('DELETE', `/api/agents/${id}`)).status).to.equal(204);
    for (const sub of [id, ...under.map((one) => one.id)]) {
      expect((await stage.ask('GET', `/api/agents/${sub}`)).status).to.equal(404);
    }
    expect(inside(stage.app).queue.totals().running).to.equal(0);
  });

  it('tells the parent what became of a sub-agent that is stopped, removed or fails', async () => {
    think = ({ task, results }) => {
      if (task !== 'Ends') return task === 'Fail' ? { toolCalls: [call('time_now')] } : hangs;
      if (results.length > 0) return { text: results.join('\n') };
      return delegates(
        { prompt: 'Stop me' },
        { prompt: 'Remove me' },
        { prompt: 'Fail', limits: { maxSteps: 1 } },
      );
    };
    const { id } = await stage.spawn({ prompt: 'Ends' });
    const [stopped, removed, failed] = await until(
      () => subs(id),
      (all) => all.length === 3 && all.every(({ steps }) => steps > 0),
    );
    await stage.ask('POST', `/api/agents/${stopped?.id}/stop`);
    await stage.ask('DELETE', `/api/agents/${removed?.id}`);
    const { result } = await stage.reaches(id);
    expect(result?.split('\n')).to.equal([
      `${stopped?.name} (${stopped?.id}) was stopped before it replied.`,
      'Interrupted while running. It is unknown whether the call took effect. It is not retried automatically.',
      `${failed?.name} (${failed?.id}) failed: limit of 1 steps reached`,
    ]);
  });

  it('stops those under an agent that fails', async () => {
    const slow = { method: 'POST', url: `${stage.model.baseUrl}/chat/completions` };
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'sub' }] });
    think = ({ task }) =>
      task === 'sub'
        ? hangs
        : {
            toolCalls: [
              call('agents_delegate', { prompt: 'sub' }),
              call('http_request', { ...slow, body }),
            ],
          };
    const { id } = await stage.spawn({
      prompt: 'Fail',
      tools: ['http'],
      limits: { maxSeconds: 2 },
    });
    expect(await stage.reaches(id)).to.include({ error: 'time limit of 2 s reached' });
    const [sub] = await subs(id);
    // Its own time, which is what its parent had left, may have run out a moment earlier.
    expect(['stopped', 'failed']).to.contain(sub?.status);
    expect(await gone(2)).to.equal([true, true]);
  });

  it('lets a finished sub-agent take another turn, which its parent does not wait for', async () => {
    think = ({ task, results }) =>
      task === 'sub' || results.length > 0 ? { text: task } : delegates({ prompt: 'sub' });
    const { id } = await stage.spawn({ prompt: 'Root' });
    await stage.reaches(id);
    const [sub] = await subs(id);
    think = () => ({ text: 'Again.' });
    await stage.ask('POST', `/api/agents/${sub?.id}/message`, { content: 'Again' });
    await untilMatches(() => stage.agent(sub?.id ?? ''), { result: 'Again.' });
    expect(await stage.agent(id)).to.include({ status: 'completed', result: 'Root' });
  });

  it('has no agent to delegate for in a direct call', async () => {
    const path = '/api/skills/agents/tools/delegate/execute';
    const { body } = await stage.ask('POST', path, { arguments: { prompt: 'x' } });
    expect(JSON.stringify(body)).to.contain('only an agent can delegate');
  });
});
