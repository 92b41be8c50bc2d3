import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { inside } from '../harness/inside.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

const WORKER = {
  role: null,
  model: 'fake',
  status: 'completed',
  untrusted: false,
  parentId: null,
  hookId: null,
  executionId: null,
  steps: 1,
  usage: { inputTokens: 3, outputTokens: 1, costUsd: 0 },
  limits: {
    maxSteps: 9,
    maxSeconds: 900,
    maxTokens: 500_000,
    maxAnswerTokens: 8192,
    maxCostUsd: 1,
    maxDepth: 2,
    maxAgents: 8,
  },
  result: 'Done.',
  note: null,
  error: null,
};

describe('agents', () => {
  const stage = openForSuite(lab, startStage);

  const finished = async (body: object) => {
    stage.model.script(says({ text: 'Done.', usage: { input: 3, output: 1 } }));
    const agent = await stage.spawn(body);
    return stage.reaches(agent.id);
  };

  it('returns the whole agent', async () => {
    const agent: Record<string, unknown> = {
      ...(await finished({
        prompt: 'Work',
        name: 'worker',
        topic: 'tests',
        limits: { maxSteps: 9 },
      })),
    };
    const { id, sessionId, createdAt, startedAt, finishedAt } = agent;
    const given = { orgId: null, name: 'worker', topic: 'tests', prompt: 'Work' };
    const made = { id, sessionId, createdAt, startedAt, finishedAt };
    expect(agent).to.equal({ ...WORKER, ...given, ...made });
    expect([createdAt, startedAt, finishedAt]).to.equal([createdAt, startedAt, finishedAt].sort());
  });

  it('lists the newest first, page by page, and by what they are', async () => {
    const older = await finished({ prompt: 'One', topic: 'listing' });
    const newer = await finished({ prompt: 'Two', topic: 'listing' });
    const ids = async (query: string): Promise<string[]> =>
      (await stage.ask('GET', `/api/agents?${query}`)).body.agents.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids('topic=listing')).to.equal([newer.id, older.id]);
    expect(await ids(`topic=listing&cursor=${newer.id}`)).to.equal([older.id]);
    expect(await ids(`sessionId=${older.sessionId}`)).to.equal([older.id]);
    expect(await ids('topic=listing&status=completed&untrusted=false')).to.have.length(2);
    expect(await ids('topic=listing&status=running')).to.equal([]);
    expect(await ids('topic=listing&untrusted=true')).to.equal([]);
    const first = await stage.ask('GET', '/api/agents?topic=listing&limit=1');
    expect(first.body.nextCursor).to.equal(newer.id);
  });

  const refusals: [string, object, string][] = [
    ['no prompt', {}, 'prompt'],
    ['an empty prompt', { prompt: '' }, 'prompt'],
    ['a model that there is not', { prompt: 'x', model: 'gpt-nowhere' }, 'model'],
    ['a tool that there is not', { prompt: 'x', tools: ['time', 'no.such'] }, 'tools.1'],
    ['an expert', { prompt: 'x', expertId: 'e' }, 'expertId'],
    ['limits out of range', { prompt: 'x', limits: { maxSteps: 0 } }, 'limits.maxSteps'],
    ['what an agent may not say of itself', { prompt: 'x', untrusted: false }, 'untrusted'],
    ['another owner', { prompt: 'x', userId: 'user_1' }, 'userId'],
  ];
  for (const [what, body, path] of refusals) {
    it(`refuses to spawn with ${what}, and names the field`, async () => {
      const reply = await stage.ask('POST', '/api/agents', body);
      expect(reply.status).to.equal(400);
      expect(reply.body.details.map((fault: { path: string }) => fault.path)).to.equal([path]);
      expect(reply.body.message).to.contain(path);
    });
  }

  it("hides another's behind the answer for none, on every route", async () => {
    const { id } = await finished({ prompt: 'Mine' });
    const { token } = await stage.register('stranger');
    const routes: [string, string, object?][] = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/message', { content: 'Hi' }],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/stop'],
      ['GET', '/events'],
    ];
    for (const named of [id, 'agent_nowhere']) {
      for (const [method, path, body] of routes) {
        const ask = { token, ...(body && { body }) };
        const reply = await stage.call(method, `/api/agents/${named}${path}`, ask);
        expect([reply.status, reply.body.message]).to.equal([404, 'No agent with that id']);
      }
    }
    expect((await stage.call('GET', '/api/agents', { token })).body.agents).to.equal([]);
    expect((await stage.agent(id)).status).to.equal('completed');
  });

  it('answers one and the same verb many times at once without a failure', async () => {
    const { id } = await finished({ prompt: 'Gone soon' });
    const codes = await Promise.all(
      Array.from(
        { length: 10 },
        async () => (await stage.ask('DELETE', `/api/agents/${id}`)).status,
      ),
    );
    expect(codes).to.include(204);
    expect(codes.filter((code) => code !== 204 && code !== 404)).to.equal([]);
  });

  it('answers a message that meets a removal with 202 or 404', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await finished({ prompt: 'Gone soon' });
      stage.model.script(says({ text: 'Again.' }));
      const [told, removed] = await Promise.all([
        stage.ask('POST', `/api/agents/${id}/message`, { content: 'Wait!' }),
        stage.ask('DELETE', `/api/agents/${id}`),
      ]);
      expect([202, 404]).to.include(told.status);
      expect(removed.status).to.equal(204);
      expect((await stage.ask('GET', `/api/agents/${id}`)).status).to.equal(404);
    }
    expect(inside(stage.app).queue.totals().running).to.equal(0);
  });
});
