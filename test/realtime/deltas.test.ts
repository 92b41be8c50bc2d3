import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { openStream } from '../agents/chat/stream.js';
import { call, enterAs, type Stage, startStage } from '../agents/stage.js';
import { until, untilMatches } from '../harness/app.js';
import { dictated, says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const KEY = 'sk-the-key-of-this-endpoint-0123456789';

interface Heard {
  type: string;
  data: { agentId: string; step: number; from: number; text: string; data: { step?: number } };
}

/** What a socket hears of deltas and messages, in the order of hearing. */
const follow = async (stage: Stage, token: string) => {
  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/ws?token=${token}`);
  await once(socket, 'open');
  const channels = ['agent.delta', 'agent.message'];
  socket.send(JSON.stringify({ type: 'subscribe', channels }));
  const [reply] = await once(socket, 'message');
  const heard: Heard[] = [];
  socket.on('message', (text) => heard.push(JSON.parse(text.toString())));
  const deltas = () => heard.filter(({ type }) => type === 'agent.delta');
  return {
    reply: JSON.parse(reply.toString()),
    heard,
    deltas,
    text: () =>
      deltas()
        .map(({ data }) => data.text)
        .join(''),
    close: () => socket.close(),
  };
};

const becomes = (look: () => unknown, wanted: unknown) => untilMatches(async () => look(), wanted);

describe('replies as they are written, on /ws', () => {
  const stage = openForSuite(lab, () => startStage({ modelKey: KEY }));
  beforeEach(() => stage.model.forget());

  const listen = async (token = stage.token) => follow(stage, token);

  it('are the words of the stream, with their places, and the message follows', async () => {
    const mine = await listen();
    stage.model.script(
      says({ text: 'Looking it up.', toolCalls: [call('time_now')] }),
      says({ text: 'It is late already.' }),
    );
    const body = { message: 'What time is it?' };
    const stream = await openStream(`${stage.url}/api/chat`, { token: stage.token, body });
    const streamed = (await stream.until()).filter(({ event }) => event === 'delta');
    await becomes(() => mine.heard.at(-1)?.type, 'agent.message');
    await becomes(mine.text, streamed.map(({ data }) => data.text).join(''));
    expect(mine.text()).to.equal('Looking it up.It is late already.');
    for (const step of [1, 2]) {
      const own = mine.heard.filter(({ data }) => (data.step ?? data.data.step) === step);
      expect(own.at(-1)?.type).to.equal('agent.message');
      let to = 0;
      for (const { data } of own.slice(0, -1)) {
        expect(data.from).to.equal(to);
        to += data.text.length;
      }
    }
    mine.close();
  });

  it('arrive while the model writes, a few frames a second', async () => {
    const mine = await listen();
    const { reply, say, end } = dictated();
    stage.model.script(reply);
    const { id } = await stage.spawn({ prompt: 'Think' });
    await say('One ');
    await becomes(mine.text, 'One ');
    for (let nth = 0; nth < 200; nth++) await say('and ');
    await becomes(mine.text, `One ${'and '.repeat(200)}`);
    expect(mine.deltas().length).to.be.below(20);
    expect(mine.deltas()[0]?.data).to.equal({ agentId: id, step: 1, from: 0, text: 'One ' });
    await end();
    await stage.reaches(id);
    mine.close();
  });

  it('reach nobody else, nor a token without the scope', async () => {
    const stranger = await stage.register('stranger');
    const create = (scopes: string[]) =>
      stage.ask('POST', '/api/auth/tokens', { name: scopes.join(), scopes });
    const [narrow, wide] = [await create(['hooks:read']), await create(['agents:read'])];
    const theirs = await listen(stranger.token);
    const narrowed = await listen(narrow.body.token);
    const widened = await listen(wide.body.token);
    expect(narrowed.reply.errors.map(({ status }: { status: number }) => status)).to.equal([
      403, 403,
    ]);
    expect(widened.reply.errors).to.be.undefined();
    stage.model.script(says({ text: 'For my owner alone.' }));
    const { id } = await stage.spawn({ prompt: 'Speak' });
    await stage.reaches(id);
    await becomes(() => widened.heard.at(-1)?.type, 'agent.message');
    expect(widened.text()).to.equal('For my owner alone.');
    expect([theirs.heard, narrowed.heard]).to.equal([[], []]);
    for (const each of [theirs, narrowed, widened]) each.close();
  });

  it('hide a secret that is spread over several of them', async () => {
    const mine = await listen();
    const { reply, say, end } = dictated();
    stage.model.script(reply);
    const { id } = await stage.spawn({ prompt: 'Tell me your key' });
    await say('It is ');
    await becomes(mine.text, 'It is ');
    await say(KEY.slice(0, 12));
    // Until a later reply has two frames the pace between two of this one has passed, too: each
    // piece would be a frame of its own.
    const later = dictated();
    stage.model.script(later.reply);
    const { id: other } = await stage.spawn({ prompt: 'Think' });
    const framesOfOther = () => mine.deltas().filter(({ data }) => data.agentId === other).length;
    for (const frames of [1, 2]) {
      await later.say('and ');
      await becomes(framesOfOther, frames);
    }
    await later.end();
    await say(`${KEY.slice(12)}, as you see.`);
    await becomes(mine.text, 'It is and and [hidden], as you see.');
    await end();
    await stage.reaches(id);
    expect(JSON.stringify(mine.heard)).to.not.contain(KEY.slice(0, 8));
    mine.close();
  });

  it('are there from the beginning for a reader who comes while the model writes', async () => {
    const { reply, say, end } = dictated();
    stage.model.script(reply);
    const asked = stage.model.nextAsked();
    // The sockets of the tests before may not have closed yet.
    const reader = await enterAs(stage, 'latecomer');
    const { id } = await reader.spawn({ prompt: 'Think' });
    await asked;
    await say('Nobody hears this. ');
    const late = await listen(reader.token);
    await until(
      async () => {
        await say('.');
        return late.deltas().length;
      },
      (count) => count > 0,
    );
    expect(late.deltas()[0]?.data.from).to.equal(0);
    expect(late.text()).to.match(/^Nobody hears this\. \.+$/);
    await end();
    await reader.reaches(id);
    late.close();
  });

  it('begin anew where another model answers after one that broke off', async () => {
    const mine = await listen();
    const { reply, say, breakOff } = dictated();
    stage.model.script(reply, says({ text: 'Another one.' }));
    const baseUrl = stage.model.baseUrl;
    const first = { name: 'first', provider: 'openai-compatible', modelId: 'x', baseUrl };
    await stage.ask('POST', '/api/models', { ...first, fallbacks: ['fake'] });
    const { id } = await stage.spawn({ prompt: 'Think', model: 'first' });
    await say('The answer: ');
    await becomes(mine.text, 'The answer: ');
    await breakOff();
    await stage.reaches(id);
    await becomes(() => mine.heard.at(-1)?.type, 'agent.message');
    const begun = mine.deltas().filter(({ data }) => data.from === 0);
    expect(begun.length).to.equal(2);
    expect('Another one.').to.startWith(begun[1]?.data.text ?? 'nothing');
    mine.close();
  });

  it('begin anew where the text so far has proved to be reasoning', async () => {
    const mine = await listen();
    const { reply, say, end } = dictated();
    stage.model.script(reply);
    const token = stage.token;
    const stream = await openStream(`${stage.url}/api/chat`, {
      token,
      body: { message: 'Which day?' },
    });
    await say('Whatever it is, I will say so in the end. ');
    await becomes(() => mine.text().startsWith('Whatever'), true);
    await say('Friday?</think>It is Friday.');
    await end();
    const told = await stream.until();
    const pieces = told.filter(({ event }) => event === 'delta').map(({ data }) => data);
    const from = pieces.findLastIndex(({ restart }) => restart === true);
    const text = pieces.slice(from).map((piece) => piece.text);
    expect([from >= 0, text.join('')]).to.equal([true, 'It is Friday.']);
    expect(told.at(-1)?.data.message).to.equal('It is Friday.');
    await becomes(() => mine.heard.at(-1)?.type, 'agent.message');
    const begun = mine.deltas().findLastIndex(({ data }) => data.from === 0);
    const last = mine
      .deltas()
      .slice(begun)
      .map(({ data }) => data.text);
    expect(last.join('')).to.equal('It is Friday.');
    mine.close();
  });
});
