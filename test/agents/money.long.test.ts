import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, sign, until } from '../harness/app.js';
import { hangs, type Reply, refuses, says } from '../harness/openai.js';
import {
  type Agent,
  call,
  enterAs,
  FINISHED,
  removeAgents,
  type Stage,
  startStage,
} from './stage.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after, afterEach } = lab;

const SECRET = 'a secret of some length';
/** USD for a million tokens of output; what is asked costs nothing, so that figures are exact. */
const PRICE = 15;

/** Answers as long as it may, and tells so. */
const longAs =
  (wanted: number): Reply =>
  (response, request) => {
    const output = Math.min(wanted, request.max_tokens ?? wanted);
    says({ text: 'Long.', usage: { input: 10, output }, finish: 'length' })(response, request);
  };

/** Words without end, whatever bound was asked for: one token each. */
const babbles =
  (field: 'content' | 'reasoning_content'): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const delta = JSON.stringify({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta: { [field]: 'word ' }, finish_reason: null }],
    });
    const more = (): void => {
      if (response.destroyed) return;
      response.write(`data: ${delta}\n\n`.repeat(100), () => setImmediate(more));
    };
    more();
  };

describe('what a model may cost', () => {
  let admin: Stage;
  /** In the hands of somebody new, who has spent nothing today. */
  let stage: Stage;
  let cases = 0;
  let askedBefore = 0;
  let replies: Reply[] = [];
  before(async () => {
    admin = await startStage({ modelOutputPrice: PRICE, dailyCostUsd: 10, jobConcurrency: 50 });
    const next: Reply = (...of) => (replies.shift() ?? refuses(500))(...of);
    admin.model.script(...Array.from({ length: 1000 }, () => next));
  });
  beforeEach(async () => {
    cases += 1;
    stage = await enterAs(admin, `writer${cases}`);
    askedBefore = admin.model.asked.length;
    replies = [];
  });
  afterEach(() => removeAgents(stage));
  after(() => admin.stop());

  const script = (...more: Reply[]) => void replies.push(...more);
  const asked = () => admin.model.asked.slice(askedBefore);
  const limits = (given: object) =>
    admin.ask('PATCH', `/api/admin/users/${stage.userId}`, { limits: given });
  const spentToday = async (): Promise<number> => {
    const row = await stage.app.store.db
      .selectFrom('daily_usage')
      .select('cost_usd')
      .where('user_id', '=', stage.userId)
      .executeTakeFirst();
    return row?.cost_usd ?? 0;
  };
  const bounds = () => asked().map(({ body }) => body.max_tokens);
  const reserved = () => stage.app.store.db.selectFrom('reservations').selectAll().execute();

  it('is what the caps leave, however long the model would answer', async () => {
    script(longAs(668_000), longAs(668_000));
    const { id } = await stage.spawn({ prompt: 'Write', limits: { maxCostUsd: 0.2 } });
    const whole = await stage.reaches(id);
    expect([whole.status, whole.usage.costUsd]).to.equal(['completed', 0.12288]);
    const { id: other } = await stage.spawn({ prompt: 'Write', limits: { maxCostUsd: 0.06 } });
    const cut = await stage.reaches(other);
    expect([cut.status, cut.usage.costUsd]).to.equal(['completed', 0.06]);
    expect(bounds()).to.equal([8192, 4000]);
    expect(await reserved()).to.equal([]);
  });

  it('is bounded by the longest answer of the agent and of the model', async () => {
    const { baseUrl } = stage.model;
    await admin.ask('POST', '/api/models', {
      ...{ name: 'short', provider: 'openai-compatible', modelId: 'x', baseUrl },
      ...{ maxOutputTokens: 500, contextWindow: 100_000 },
    });
    script(longAs(668_000), longAs(668_000), longAs(668_000));
    const spawned = [
      { model: 'short' },
      { model: 'short', limits: { maxAnswerTokens: 300 } },
      { limits: { maxAnswerTokens: 20_000, maxCostUsd: 5 } },
    ];
    for (const body of spawned) {
      const { id } = await stage.spawn({ prompt: 'Write', ...body });
      await stage.reaches(id);
    }
    expect(bounds()).to.equal([500, 300, 20_000]);
  });

  for (const [field, status] of [
    ['content', 'completed'],
    // The model answered nothing.
    ['reasoning_content', 'failed'],
  ] as const) {
    it(`is cut where the model goes on with its ${field}, and the connection with it`, async () => {
      script(babbles(field));
      const { id } = await stage.spawn({ prompt: 'Write', limits: { maxCostUsd: 0.06 } });
      const agent = await stage.reaches(id);
      expect(agent.status).to.equal(status);
      expect(agent.usage.outputTokens).to.equal(4001);
      expect(agent.usage.costUsd).to.equal(0.060015);
      expect(await asked()[0]?.gone).to.be.true();
      const said = (await stage.events(id)).find(({ type }) => type === 'agent.message');
      if (status === 'completed') expect(said?.data.cut).to.be.true();
      else expect(agent.error).to.match(/ sent no text before its output limit\./);
    });
  }

  it('is reached under 256 tokens, and no model is asked', async () => {
    const { id } = await stage.spawn({ prompt: 'Write', limits: { maxCostUsd: 0.0038 } });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'failed', error: 'limit of 0.0038 USD reached', steps: 0 });
    expect(asked()).to.equal([]);
  });

  it('is waited for where other calls hold it, and those come to less', async () => {
    await limits({ dailyCostUsd: 0.125 });
    const held: (() => void)[] = [];
    const holds: Reply = (...of) => {
      held.push(() => says({ text: 'Done.', usage: { input: 1, output: 100 } })(...of));
    };
    script(holds, holds);
    const opening = stage.model.nextAsked();
    const first = await stage.spawn({ prompt: 'Write' });
    await opening;
    const second = await stage.spawn({ prompt: 'Write' });
    await stage.reaches(second.id, 'running');
    expect((await reserved()).map(({ cost_usd }) => cost_usd)).to.equal([0.12288]);
    expect((await stage.agent(first.id)).usage.costUsd).to.equal(0);
    const next = stage.model.nextAsked();
    held[0]?.();
    await next;
    held[1]?.();
    const agents = await Promise.all([first, second].map(({ id }) => stage.reaches(id)));
    expect(agents.map(({ status }) => status)).to.equal(['completed', 'completed']);
    expect(bounds()).to.equal([8192, 8192]);
    expect(await spentToday()).to.equal(0.003);
  });

  it('is waited for no longer once the agent is stopped', async () => {
    await limits({ dailyCostUsd: 0.125 });
    script(hangs);
    const first = stage.model.nextAsked();
    await stage.spawn({ prompt: 'Write' });
    await first;
    const { id } = await stage.spawn({ prompt: 'Write' });
    await stage.reaches(id, 'running');
    await stage.ask('POST', `/api/agents/${id}/stop`);
    expect((await stage.reaches(id)).status).to.equal('stopped');
    expect(asked().length).to.equal(1);
  });

  it('lets 20 agents of a hook complete that begin at once', async () => {
    script(...Array.from({ length: 20 }, () => longAs(100)));
    await limits({ dailyCostUsd: 0.5 });
    await stage.ask('POST', '/api/hooks', {
      name: 'storm',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'storm', webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Look' },
      concurrency: 20,
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const body = JSON.stringify({ n });
        const headers = { 'x-hub-signature-256': sign(SECRET, body) };
        return stage.call('POST', '/api/webhooks/storm', { body, headers });
      }),
    );
    const agents = await until<Agent[]>(
      async () => (await stage.ask('GET', '/api/agents?limit=200')).body.agents,
      (all) => all.length === 20 && all.every(({ status }) => FINISHED.includes(status)),
      60_000,
    );
    expect(agents.map(({ error }) => error).filter((error) => error !== null)).to.equal([]);
    expect(await spentToday()).to.be.about(0.03, 1e-6);
  });

  it('holds what sub-agents ask for at once against the agent above them', async () => {
    const delegates = [1, 2, 3, 4].map((n) => call('agents_delegate', { prompt: 'sub' }, `c${n}`));
    const isSub = (request: object): boolean => JSON.stringify(request).includes('"sub"');
    const subs: Reply = (response, request) =>
      isSub(request)
        ? longAs(668_000)(response, request)
        : says({ text: 'All.', usage: { input: 1, output: 1 } })(response, request);
    const opening = says({ toolCalls: delegates, usage: { input: 1, output: 1 } });
    script(opening, ...Array.from({ length: 8 }, () => subs));
    const { id } = await stage.spawn({ prompt: 'Root', limits: { maxCostUsd: 0.25 } });
    const root = await stage.reaches(id);
    expect(root.usage.costUsd).to.be.most(0.25);
    expect(await spentToday()).to.equal(root.usage.costUsd);
  });

  it('counts the call that a stop of the daemon left', async () => {
    script(hangs);
    const first = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Write' });
    await first;
    const left = await reserved();
    expect(left.length).to.equal(1);
    await stage.ask('POST', `/api/agents/${id}/pause`);
    const insert = stage.app.store.db.insertInto('reservations');
    await insert.values({ ...left[0]!, id: 'usage_left' }).execute();
    const before = await stage.agent(id);
    await stage.restart();
    const after = await stage.agent(id);
    expect(after.usage.costUsd - before.usage.costUsd).to.be.about(0.12288, 1e-9);
    expect(await reserved()).to.equal([]);
  });
});

describe('a call that failed', () => {
  const clock = frozenClock();
  let stage: Stage;
  before(async () => {
    const seconds = { modelFirstTokenSeconds: 1, modelSilenceSeconds: 1 };
    stage = await startStage({ modelOutputPrice: PRICE, ...seconds }, clock);
  });
  after(() => stage.stop());

  const callsOfModel = () =>
    stage.app.store.db
      .selectFrom('model_calls')
      .select(['model', 'output_tokens'])
      .where('model', '=', 'fake')
      .execute();

  /** What is counted of one call that goes so wrong, where the question is 1 token. */
  const countsOf = async (reply: Reply) => {
    // Until the model may be asked again, however it failed before.
    clock.forward(11 * 60_000);
    const earlier = (await callsOfModel()).length;
    stage.model.script(reply);
    const { id } = await stage.spawn({ prompt: 'Write', limits: { maxAnswerTokens: 1000 } });
    const { status, usage } = await stage.reaches(id);
    const calls = (await callsOfModel()).length - earlier;
    expect(status).to.equal('failed');
    return { output: usage.outputTokens, hasInput: usage.inputTokens > 0, calls };
  };
  const frame = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    })}\n\n`;
  const streams =
    (end: 'break' | 'stall', ...frames: string[]): Reply =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(frames.join('') || ': sign of life\n\n', () => {
        if (end === 'break') response.destroy();
      });
    };
  const words = Array.from({ length: 100 }, () => frame({ content: 'word ' }));

  it('counts what was seen where it was broken off', async () => {
    const counted = await countsOf(streams('break', ...words));
    expect(counted).to.equal({ output: 100, hasInput: true, calls: 1 });
  });

  it('counts what was seen where it fell silent', async () => {
    const counted = await countsOf(streams('stall', ...words));
    expect(counted).to.equal({ output: 100, hasInput: true, calls: 1 });
  });

  it('counts all that it may have come to where nothing was to be seen', async () => {
    const counted = await countsOf(streams('stall'));
    expect(counted).to.equal({ output: 1000, hasInput: true, calls: 1 });
  });

  it('counts the arguments of tools', async () => {
    const part = (args: string) =>
      frame({ tool_calls: [{ index: 0, id: 'c', function: { name: 'x', arguments: args } }] });
    const counted = await countsOf(streams('break', part('{"a":"'), part('b'.repeat(594))));
    expect(counted).to.equal({ output: 200, hasInput: true, calls: 1 });
  });

  it('counts what was told where a filter ended it', async () => {
    const said = { text: 'No.', finish: 'content_filter', usage: { input: 40, output: 30 } };
    expect(await countsOf(says(said))).to.equal({ output: 30, hasInput: true, calls: 1 });
  });

  it('counts nothing of an error before any part of the answer', async () => {
    expect(await countsOf(refuses(500))).to.equal({ output: 0, hasInput: false, calls: 0 });
    const error = streams(
      'stall',
      `data: ${JSON.stringify({ error: { message: 'no', code: 500 } })}\n\n`,
    );
    expect(await countsOf(error)).to.equal({ output: 0, hasInput: false, calls: 0 });
  });

  it('counts what such an error tells', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 7 };
    const tells: Reply = (response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'no' }, usage }));
    };
    expect(await countsOf(tells)).to.equal({ output: 7, hasInput: true, calls: 1 });
  });
});
