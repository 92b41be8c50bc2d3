import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { settleReserved } from '../../src/agents/budget.js';
import { frozenClock, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { hangs, type Reply, says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

/** A dollar for ten thousand input tokens: a prompt and its tools are expected to cost some cents. */
const PRICED = { modelInputPrice: 100, modelOutputPrice: 0 };

const again = (usage = { input: 10, output: 5 }): Reply =>
  says({ toolCalls: [call('time_now')], usage });

describe('the limits of an agent', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => startStage({}, clock));

  it('ends it after so many steps', async () => {
    stage.model.script(again(), again(), again());
    const { id } = await stage.spawn({ prompt: 'For ever', limits: { maxSteps: 3 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', steps: 3, error: 'limit of 3 steps reached' });
    expect(stage.model.asked.length).to.equal(3);
  });

  it('ends it after so many tokens', async () => {
    const usage = { input: 9000, output: 1000 };
    stage.model.script(again(usage), again(usage));
    const { id } = await stage.spawn({ prompt: 'For ever', limits: { maxTokens: 20_000 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({
      status: 'failed',
      steps: 2,
      error: 'limit of 20000 tokens reached',
    });
    expect(agent.usage).to.equal({ inputTokens: 18_000, outputTokens: 2000, costUsd: 0 });
  });

  it('ends it after so many seconds, and the call with it', async () => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Wait', limits: { maxSeconds: 60 } });
    await asked;
    clock.forward(59_999);
    expect(await stage.agent(id)).to.include({ status: 'running' });
    clock.forward(1);
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', error: 'time limit of 60 s reached' });
    expect(await stage.model.asked.at(-1)?.gone).to.be.true();
  });

  it('counts the seconds of work alone, pauses not', async () => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Wait', limits: { maxSeconds: 60 } });
    await asked;
    clock.forward(5_000);
    await stage.ask('POST', `/api/agents/${id}/pause`);
    const activeMs = async (): Promise<number> =>
      (await inside(stage.app).rows.byId(id))?.active_ms ?? -1;
    expect(await activeMs()).to.equal(5_000);
    clock.forward(60_000);
    stage.model.script(says({ text: 'Enough.' }));
    await stage.ask('POST', `/api/agents/${id}/resume`);
    expect((await stage.reaches(id)).status).to.equal('completed');
    expect(await activeMs()).to.equal(5_000);
  });

  it('lets no next turn begin once they are used up', async () => {
    stage.model.script(says({ text: 'Once.' }));
    const { id } = await stage.spawn({ prompt: 'Speak', limits: { maxSteps: 1 } });
    await stage.reaches(id);
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Again' });
    const agent = await stage.reaches(id, 'failed');
    expect(agent.error).to.equal('limit of 1 steps reached');
  });
});

describe('what agents may cost', () => {
  let stage: Stage;
  let reply: Reply;
  before(async () => {
    stage = await startStage({ ...PRICED, dailyCostUsd: 5 });
    stage.model.script(
      ...Array.from(
        { length: 100 },
        (): Reply =>
          (...of) =>
            reply(...of),
      ),
    );
  });
  after(() => stage.stop());
  afterEach(() => stage.app.store.db.deleteFrom('daily_usage').execute());

  const spentToday = async (): Promise<number> => {
    const row = await stage.app.store.db
      .selectFrom('daily_usage')
      .select('cost_usd')
      .where('user_id', '=', stage.userId)
      .executeTakeFirst();
    return row?.cost_usd ?? 0;
  };

  /** In US dollars: what a call is expected to cost, which grows with the tools that agents have. */
  const costExpected = async (): Promise<number> => {
    reply = hangs;
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Spend' });
    await asked;
    const { body } = await stage.ask('POST', `/api/agents/${id}/pause`);
    await stage.app.store.db.deleteFrom('daily_usage').execute();
    return Number(body.usage.costUsd);
  };

  it('is counted to the cent', async () => {
    reply = says({ text: 'Cheap.', usage: { input: 2500, output: 10 } });
    const { id } = await stage.spawn({ prompt: 'Hi' });
    const agent = await stage.reaches(id);
    expect(agent.usage).to.equal({ inputTokens: 2500, outputTokens: 10, costUsd: 0.25 });
    expect(await spentToday()).to.equal(0.25);
  });

  it('ends an agent at its own limit', async () => {
    reply = again({ input: 9500, output: 1 });
    const { id } = await stage.spawn({ prompt: 'Spend', limits: { maxCostUsd: 2 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', error: 'limit of 2 USD reached', steps: 2 });
    expect(agent.usage.costUsd).to.equal(1.9);
  });

  it('ends all agents of a user at the limit of the day, however many begin at once', async () => {
    const least = Math.floor(1 / (await costExpected()));
    reply = says({ text: 'Dear.', usage: { input: 1000, output: 1 } });
    const { userId: user_id } = stage;
    const day = new Date().toISOString().slice(0, 10);
    const today = { user_id, day, cost_usd: 4, tokens: 0 };
    await stage.app.store.db.insertInto('daily_usage').values(today).execute();
    const asked = stage.model.asked.length;
    const spawned = await Promise.all(
      Array.from({ length: 20 }, () => stage.spawn({ prompt: 'Spend' })),
    );
    const agents = await Promise.all(spawned.map(({ id }) => stage.reaches(id)));
    const failed = agents.filter(({ status }) => status === 'failed');
    expect(new Set(failed.map(({ error }) => error))).to.equal(
      new Set(['the daily limit of 5 USD is reached']),
    );
    const paid = agents.length - failed.length;
    expect(stage.model.asked.length - asked).to.equal(paid);
    expect(await spentToday()).to.be.about(4 + paid * 0.1, 1e-6);
    expect(least).to.be.within(1, 9);
    expect(paid).to.be.within(least, 10);
  });

  it('counts a call that a pause cut off as it was expected to cost', async () => {
    reply = hangs;
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Hi' });
    await asked;
    const { body } = await stage.ask('POST', `/api/agents/${id}/pause`);
    expect(Number(body.usage.costUsd)).to.be.above(0.05);
    expect(await spentToday()).to.equal(body.usage.costUsd);
  });

  it('counts a reply that came after the agent was paused or removed', async () => {
    let answer = (): void => undefined;
    reply = (...of) => {
      answer = () => says({ text: 'Too late.', usage: { input: 7000, output: 1 } })(...of);
    };
    const { db } = stage.app.store;
    let asked = stage.model.nextAsked();
    const { id, sessionId } = await stage.spawn({ prompt: 'Hi' });
    await asked;
    await db.updateTable('agents').set({ status: 'paused' }).where('id', '=', id).execute();
    answer();
    await until(spentToday, (spent) => spent === 0.7);
    expect(await stage.agent(id)).to.include({ status: 'paused', result: null });
    expect((await stage.agent(id)).usage.costUsd).to.equal(0.7);
    expect((await stage.messages(sessionId)).length).to.equal(1);

    asked = stage.model.nextAsked();
    const other = await stage.spawn({ prompt: 'Hi' });
    await asked;
    await db.deleteFrom('agents').where('id', '=', other.id).execute();
    answer();
    await until(spentToday, (spent) => spent === 1.4);
  });
});

describe('an agent whose call other calls leave no room for', () => {
  it('accepts a shorter reply after five seconds', async () => {
    const clock = frozenClock();
    const stage = await startStage({ modelOutputPrice: 15, dailyCostUsd: 0.13 }, clock);
    stage.model.script(hangs, says({ text: 'Short.', usage: { input: 1, output: 100 } }));
    const first = stage.model.nextAsked();
    await stage.spawn({ prompt: 'Write' });
    await first;
    let waits = clock.starting(200);
    const { id } = await stage.spawn({ prompt: 'Write' });
    for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 200) {
      await waits;
      expect(stage.model.asked.length).to.equal(1);
      waits = clock.starting(200);
      clock.forward(200);
    }
    expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'Short.' });
    // The first call reserved 0.12288 USD, and a token costs 0.000015 USD.
    expect(stage.model.asked.map(({ body }) => body.max_tokens)).to.equal([8192, 474]);
    await stage.stop();
  });
});

describe('a model without a price', () => {
  it('counts tokens alone, whatever the limits of cost', async () => {
    const stage = await startStage({ dailyCostUsd: 0 });
    stage.model.script(says({ text: 'Free.' }));
    const { id } = await stage.spawn({ prompt: 'Hi', limits: { maxCostUsd: 0 } });
    expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'Free.' });
    await stage.stop();
  });
});

describe('a fallback that costs more than the model that failed', () => {
  const dear = { inputPerMTok: 1000, outputPerMTok: 0 };
  let stage: Stage;
  before(async () => {
    stage = await startStage({ dailyCostUsd: 100 });
    const given = { provider: 'openai-compatible', modelId: 'x', baseUrl: stage.model.baseUrl };
    const models = [
      { name: 'dear', price: dear },
      { name: 'free', price: null, baseUrl: 'http://127.0.0.1:9/v1', fallbacks: ['dear'] },
    ];
    for (const model of models) await stage.ask('POST', '/api/models', { ...given, ...model });
  });
  after(() => stage.stop());

  const run = async (maxCostUsd: number) => {
    const limits = { maxCostUsd };
    const { id } = await stage.spawn({ prompt: 'Hi', model: 'free', limits });
    const agent = await stage.reaches(id);
    const said = (await stage.events(id)).find(({ type }) => type === 'agent.message');
    return { agent, data: said?.data ?? {} };
  };

  it('is paid for before it is asked', async () => {
    stage.model.script(says({ text: 'Dear.', usage: { input: 300, output: 1 } }));
    const { agent, data } = await run(50);
    expect([agent.result, data.model]).to.equal(['Dear.', 'dear']);
    expect(agent.usage.costUsd).to.equal(0.3);
  });

  it('is passed over where the limit forbids it', async () => {
    const asked = stage.model.asked.length;
    stage.model.script(says({ text: 'Free.' }));
    const { agent, data } = await run(0.01);
    expect(data.model).to.equal('fake');
    expect(agent.usage.costUsd).to.equal(0);
    expect(Object(data.passedOver)[1]).to.equal({
      model: 'dear',
      because: 'its cost would exceed a limit',
    });
    expect(stage.model.asked.length).to.equal(asked + 1);
  });

  it('is counted to its user by model, agent, hook and day', async () => {
    const { body } = await stage.ask('GET', '/api/models/usage');
    expect(body.total).to.equal({ calls: 2, inputTokens: 310, outputTokens: 6, costUsd: 0.3 });
    expect(body.usage).to.equal([
      { key: 'fake', calls: 1, inputTokens: 10, outputTokens: 5, costUsd: 0 },
      { key: 'dear', calls: 1, inputTokens: 300, outputTokens: 1, costUsd: 0.3 },
    ]);
    const first = await stage.ask('GET', '/api/models/usage?limit=1');
    expect([first.body.usage.length, first.body.nextCursor]).to.equal([1, 'fake']);
    const rest = await stage.ask('GET', '/api/models/usage?cursor=fake');
    expect(rest.body.usage.map(({ key }: { key: string }) => key)).to.equal(['dear']);
    const by = async (what: string) =>
      (await stage.ask('GET', `/api/models/usage?by=${what}`)).body;
    expect((await by('agent')).usage.map(({ calls }: { calls: number }) => calls)).to.equal([1, 1]);
    expect((await by('day')).usage).to.equal([
      { key: new Date().toISOString().slice(0, 10), ...body.total },
    ]);
    expect((await by('hook')).usage).to.equal([]);
    const { token } = await stage.register('stranger');
    const theirs = await stage.call('GET', '/api/models/usage', { token });
    expect(theirs.body).to.equal({
      usage: [],
      nextCursor: null,
      total: { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
    });
    const later = await stage.ask('GET', '/api/models/usage?since=2999-01-01T00:00:00.000Z');
    expect(later.body.total.calls).to.equal(0);
  });
});

describe('the usage of a call', () => {
  it('is counted up to a bound, whatever an endpoint reports', () => {
    const reserved = {
      ...{ id: 'usage_1', step: 1, model: 'm', price: null },
      ...{ inputTokens: 1, outputTokens: 1 },
    };
    const counted = (costUsd: number | null) => {
      const usage = { inputTokens: 1e308, outputTokens: 1e308, costUsd };
      const [first] = settleReserved({ clock: frozenClock() }, reserved, { usage, latencyMs: 1 });
      return first?.parameters[0];
    };
    const most = { inputTokens: 1e12, outputTokens: 1e12 };
    expect(counted(0.5)).to.include({ ...most, costUsd: 0.5 });
    expect(counted(null)).to.include({ ...most, costUsd: null });
    for (const odd of [Number.POSITIVE_INFINITY, Number.NaN, 1e300, -1]) {
      expect(counted(odd)).to.include({ ...most, costUsd: 1e6 });
    }
  });
});
