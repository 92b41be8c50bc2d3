import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { hangs, type Reply, says } from '../../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

/** One dollar a thousand input tokens. */
const PRICED = { modelInputPrice: 1000, modelOutputPrice: 0 };

const again = (usage = { input: 10, output: 5 }): Reply =>
  says({ toolCalls: [call('time_now')], usage });

describe('the limits of an agent', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
  });
  after(() => stage.stop());

  it('ends it after so many steps', async () => {
    stage.model.script(again(), again(), again());
    const { id } = await stage.spawn({ prompt: 'For ever', limits: { maxSteps: 3 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', steps: 3, error: 'limit of 3 steps reached' });
    expect(stage.model.asked.length).to.equal(3);
  });

  it('ends it after so many tokens', async () => {
    const usage = { input: 600, output: 100 };
    stage.model.script(again(usage), again(usage));
    const { id } = await stage.spawn({ prompt: 'For ever', limits: { maxTokens: 1400 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', steps: 2, error: 'limit of 1400 tokens reached' });
    expect(agent.usage).to.equal({ inputTokens: 1200, outputTokens: 200, costUsd: 0 });
  });

  it('ends it after so many seconds, and the call with it', async () => {
    stage.model.script(hangs);
    const { id } = await stage.spawn({ prompt: 'Wait', limits: { maxSeconds: 1 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', error: 'time limit of 1 s reached' });
    expect(await stage.model.asked.at(-1)?.gone).to.be.true();
  });

  it('counts the seconds of work alone, pauses not', async () => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Wait', limits: { maxSeconds: 60 } });
    await asked;
    await stage.ask('POST', `/api/agents/${id}/pause`);
    const activeMs = async (): Promise<number> =>
      (await stage.app.runtime.rows.byId(id))?.active_ms ?? -1;
    const worked = await activeMs();
    expect(worked).to.be.within(1, 10_000);
    expect(await activeMs()).to.equal(worked);
    stage.model.script(says({ text: 'Enough.' }));
    await stage.ask('POST', `/api/agents/${id}/resume`);
    expect((await stage.reaches(id)).status).to.equal('completed');
    expect(await activeMs()).to.be.within(worked, worked + 10_000);
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
  afterEach(async () => {
    await stage.app.store.db.deleteFrom('daily_usage').execute();
  });

  const spentToday = async (): Promise<number> => {
    const row = await stage.app.store.db
      .selectFrom('daily_usage')
      .select('cost_usd')
      .where('user_id', '=', stage.userId)
      .executeTakeFirst();
    return row?.cost_usd ?? 0;
  };

  it('is counted to the cent', async () => {
    reply = says({ text: 'Cheap.', usage: { input: 250, output: 10 } });
    const { id } = await stage.spawn({ prompt: 'Hi' });
    const agent = await stage.reaches(id);
    expect(agent.usage).to.equal({ inputTokens: 250, outputTokens: 10, costUsd: 0.25 });
    expect(await spentToday()).to.equal(0.25);
  });

  it('ends an agent at its own limit', async () => {
    reply = again({ input: 900, output: 1 });
    const { id } = await stage.spawn({ prompt: 'Spend', limits: { maxCostUsd: 2 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', error: 'limit of 2 USD reached', steps: 2 });
    expect(agent.usage.costUsd).to.equal(1.8);
  });

  it('ends all agents of a user at the limit of the day, however many begin at once', async () => {
    reply = says({ text: 'Dear.', usage: { input: 350, output: 1 } });
    const asked = stage.model.asked.length;
    const spawned = await Promise.all(
      Array.from({ length: 20 }, () => stage.spawn({ prompt: 'Spend' })),
    );
    const agents = await Promise.all(spawned.map(({ id }) => stage.reaches(id)));
    const failed = agents.filter(({ status }) => status === 'failed');
    expect(new Set(failed.map(({ error }) => error))).to.equal(
      new Set(['the limit of 5 USD a day is reached']),
    );
    const paid = agents.length - failed.length;
    expect(stage.model.asked.length - asked).to.equal(paid);
    expect(await spentToday()).to.be.about(paid * 0.35, 1e-6);
    expect(paid).to.be.within(10, 14);
  });

  it('counts a call that a pause cut off as it was expected to cost', async () => {
    reply = hangs;
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Hi' });
    await asked;
    const { body } = await stage.ask('POST', `/api/agents/${id}/pause`);
    expect(Number(body.usage.costUsd)).to.be.above(0.1);
    expect(await spentToday()).to.equal(body.usage.costUsd);
  });

  it('counts a reply that came after the agent was paused or removed', async () => {
    let answer = (): void => undefined;
    reply = (...of) => {
      answer = () => says({ text: 'Too late.', usage: { input: 700, output: 1 } })(...of);
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

describe('a model without a price', () => {
  it('counts tokens alone, whatever the limits of cost', async () => {
    const stage = await startStage({ dailyCostUsd: 0 });
    stage.model.script(says({ text: 'Free.' }));
    const { id } = await stage.spawn({ prompt: 'Hi', limits: { maxCostUsd: 0 } });
    expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'Free.' });
    await stage.stop();
  });
});
