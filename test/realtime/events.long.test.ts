import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { type AgentEvent, call, type Stage, startStage } from '../agents/stage.js';
import { until } from '../harness/app.js';
import { type ChatRequest, hangs, type Reply, says } from '../harness/openai.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach, afterEach } = lab;

const CHANNELS = ['agent.status', 'agent.message', 'agent.tool_call'];

const resultsIn = ({ messages }: ChatRequest): number =>
  messages.filter(({ role }) => role === 'tool').length;

/** The events that a user's socket hears, in the order of hearing. */
const follow = async (stage: Stage, token: string) => {
  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/ws?token=${token}`);
  const heard: AgentEvent[] = [];
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'subscribe', channels: CHANNELS }));
  await once(socket, 'message');
  socket.on('message', (text) => {
    const { type, data } = JSON.parse(text.toString());
    if (type === data.type) heard.push(data);
  });
  return { heard, close: () => socket.close() };
};

describe('events of an agent', () => {
  let stage: Stage;
  let reply: Reply;
  let mine: Awaited<ReturnType<typeof follow>>;
  before(async () => {
    stage = await startStage();
    stage.model.script(
      ...Array.from(
        { length: 300 },
        (): Reply =>
          (...of) =>
            reply(...of),
      ),
    );
  });
  after(() => stage.stop());
  beforeEach(async () => {
    mine = await follow(stage, stage.token);
  });
  afterEach(() => mine.close());

  it('are the same by socket and by polling, and nobody else hears them', async () => {
    const stranger = await stage.register('stranger');
    const theirs = await follow(stage, stranger.token);
    reply = (response, request) => {
      const results = resultsIn(request);
      const twice = { toolCalls: [call('time_now'), call('time_now')] };
      says(results < 10 ? twice : { text: 'Done.' })(response, request);
    };
    const { id } = await stage.spawn({ prompt: 'Watch me' });
    await stage.reaches(id);
    const polled = await stage.events(id);
    expect(polled.map((event) => event.id)).to.equal(polled.map((_, at) => at + 1));
    await until(
      async () => mine.heard.length,
      (count) => count === polled.length,
    );
    expect(mine.heard).to.equal(polled);
    expect(theirs.heard).to.equal([]);
    theirs.close();
  });

  it('come in order and without holes for many agents at once, verbs included', async () => {
    reply = (response, request) => {
      const results = resultsIn(request);
      const said = results < 2 ? { toolCalls: [call('time_now')] } : { text: 'Done.' };
      says(said)(response, request);
    };
    const agents = await Promise.all(
      Array.from({ length: 10 }, () => stage.spawn({ prompt: 'Watch me' })),
    );
    await Promise.all(
      agents.map(async ({ id }) => {
        await stage.ask('POST', `/api/agents/${id}/pause`);
        await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Go on' });
        await stage.ask('POST', `/api/agents/${id}/resume`);
        await stage.reaches(id);
      }),
    );
    for (const { id } of agents) {
      const polled = await until(
        () => stage.events(id),
        (events) => events.at(-1)?.data.status === 'completed',
      );
      const heard = () => mine.heard.filter(({ agentId }) => agentId === id);
      await until(
        async () => heard().length,
        (count) => count === polled.length,
      );
      expect(heard()).to.equal(polled);
      expect(polled.map((event) => event.id)).to.equal(polled.map((_, at) => at + 1));
    }
  });

  it('are kept to the newest 200, and a gap is told', async () => {
    // Another zone each time: the same again and again would be stopped as a loop.
    const zones = ['UTC', 'Asia/Tokyo', 'Europe/Berlin', 'America/Lima'];
    reply = (response, request) => {
      const timezone = zones[resultsIn(request) / 32];
      const many = { toolCalls: Array(32).fill(call('time_now', { timezone })) };
      says(timezone === undefined ? { text: '.' } : many)(response, request);
    };
    const { id } = await stage.spawn({ prompt: 'Be busy' });
    await stage.reaches(id);
    const read = async (query: string) =>
      (await stage.ask('GET', `/api/agents/${id}/events?${query}`)).body;
    const all = await read('after=0');
    const last = 2 + 4 * (1 + 64) + 2;
    expect(all).to.include({ lastId: last, oldestId: last - 199, gap: true });
    expect(all.events.map((event: AgentEvent) => event.id)).to.equal(
      Array.from({ length: 200 }, (_, at) => last - 199 + at),
    );
    expect((await read(`after=${last - 200}`)).gap).to.be.false();
    expect((await read(`after=${last - 201}`)).gap).to.be.true();
    expect(await read(`after=${last}`)).to.equal({
      events: [],
      lastId: last,
      oldestId: last - 199,
      gap: false,
    });
    const page = await read(`after=${last - 100}&limit=3`);
    expect(page.events.map((event: AgentEvent) => event.id)).to.equal([
      last - 99,
      last - 98,
      last - 97,
    ]);
  });

  it('are waited for', async () => {
    reply = hangs;
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Wait' });
    await asked;
    const waiting = stage.ask('GET', `/api/agents/${id}/events?after=2&wait=20`);
    await stage.ask('POST', `/api/agents/${id}/stop`);
    const { body } = await waiting;
    expect(body.events.map(({ id, data }: AgentEvent) => [id, data.status])).to.equal([
      [3, 'stopped'],
    ]);
    const empty = await stage.ask('GET', `/api/agents/${id}/events?after=3&wait=1`);
    expect(empty.body).to.equal({ events: [], lastId: 3, oldestId: 1, gap: false });
  });

  for (const query of ['after=-1', 'after=x', 'limit=0', 'limit=201', 'wait=31', 'nope=1']) {
    it(`refuse ?${query}`, async () => {
      reply = says({ text: '.' });
      const { id } = await stage.spawn({ prompt: 'Any' });
      const { status, body } = await stage.ask('GET', `/api/agents/${id}/events?${query}`);
      expect(status).to.equal(400);
      expect(body.message).to.contain(query.split('=')[0] ?? '');
      await stage.reaches(id);
    });
  }
});
