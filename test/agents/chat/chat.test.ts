import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { chat } from '../../../src/agents/chat/contract.js';
import { dictated, hangs, says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { call, startStage } from '../stage.js';
import { openStream } from './stream.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('chat', () => {
  const stage = openForSuite(lab, () => startStage({ egressAllow: ['127.0.0.1'] }));
  afterEach(async () => {
    const { agents } = (await stage.ask('GET', '/api/agents')).body;
    for (const { id } of agents) await stage.ask('DELETE', `/api/agents/${id}`);
    stage.model.asked.length = 0;
  });

  const say = (body: object, query = '') => stage.ask('POST', `/api/chat${query}`, body);
  const post = () => call('http_request', { method: 'POST', url: 'http://127.0.0.1:9/' });

  it('answers, and goes on in the same session with the same agent', async () => {
    stage.model.script(says({ text: 'Hello.' }), says({ text: 'As I said: hello.' }));
    const first = await say({ message: 'Hi' });
    const { sessionId, agentId } = first.body;
    expect([first.status, first.body]).to.equal([
      200,
      { sessionId, agentId, message: 'Hello.', note: null, status: 'completed', error: null },
    ]);
    expect(chat.send.reply.validate(first.body).error).to.be.undefined();
    const second = await say({ message: 'What?', sessionId });
    expect(second.body).to.include({ sessionId, agentId, message: 'As I said: hello.' });
    const history = await stage.messages(sessionId);
    expect(history.map(({ role, content }) => [role, content])).to.equal([
      ['user', 'Hi'],
      ['assistant', 'Hello.'],
      ['user', 'What?'],
      ['assistant', 'As I said: hello.'],
    ]);
    expect((await stage.ask('GET', `/api/chat/${agentId}`)).body).to.equal(second.body);
  });

  it('answers 202 where it takes longer, and the answer can be fetched', async () => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { status, body } = await say({ message: 'Think' }, '?wait=0');
    expect([status, body.message]).to.equal([202, null]);
    await asked;
    const later = await stage.ask('GET', `/api/chat/${body.agentId}?wait=0`);
    expect([later.status, later.body.message]).to.equal([202, null]);
    await stage.ask('POST', `/api/agents/${body.agentId}/stop`);
    const ended = await stage.ask('GET', `/api/chat/${body.agentId}`);
    expect([ended.status, ended.body.status, ended.body.message]).to.equal([200, 'stopped', null]);
  });

  it('answers 202 at once where the agent waits for an approval', async () => {
    stage.model.script(says({ toolCalls: [post()] }));
    const { status, body } = await say({ message: 'Post it' });
    expect([status, body.status, body.message]).to.equal([202, 'waiting_approval', null]);
  });

  it('says why an agent failed', async () => {
    const again = says({ toolCalls: [call('time_now')] });
    stage.model.script(...Array.from({ length: 6 }, () => again));
    const { status, body } = await say({ message: 'Loop' });
    expect([status, body.status, body.message]).to.equal([200, 'failed', null]);
    expect(body.error).to.contain('stopped in a loop');
  });

  it('takes another agent in the session where another model or topic is wished for', async () => {
    stage.model.script(says({ text: 'One.' }));
    const first = (await say({ message: 'Hi', topic: 'sums' })).body;
    const { sessionId } = first;
    const digest = (await say({ message: 'Hi', sessionId, model: 'digest' })).body;
    expect(digest.sessionId).to.equal(sessionId);
    expect(digest.agentId).to.not.equal(first.agentId);
    const agent = (await stage.ask('GET', `/api/agents/${digest.agentId}`)).body;
    expect(agent.model).to.equal('digest');
  });

  it('refuses another wish while an agent is at work in the session', async () => {
    stage.model.script(hangs);
    const asked = stage.model.nextAsked();
    const { sessionId } = (await say({ message: 'Think' }, '?wait=0')).body;
    await asked;
    const busy = await say({ message: 'You there', sessionId, model: 'digest' });
    expect([busy.status, busy.body.code]).to.equal([409, 'session_busy']);
  });

  it('names the fields that are wrong', async () => {
    for (const [body, path] of [
      [{}, 'message'],
      [{ message: '' }, 'message'],
      [{ message: 5 }, 'message'],
      [{ message: 'x'.repeat(100_001) }, 'message'],
      [{ message: 'Hi', model: 'none' }, 'model'],
      [{ message: 'Hi', userId: 'x' }, 'userId'],
    ] as const) {
      const { status, body: said } = await say(body);
      expect([status, said.details?.[0]?.path]).to.equal([400, path]);
    }
    expect((await say({ message: 'Hi' }, '?wait=121')).status).to.equal(400);
  });

  it("hides another's session and agent", async () => {
    stage.model.script(says({ text: 'Mine.' }));
    const { sessionId, agentId } = (await say({ message: 'Hi' })).body;
    const { token } = await stage.register('stranger');
    const body = { message: 'Hi', sessionId };
    const answers = await Promise.all([
      stage.call('POST', '/api/chat', { token, body }),
      stage.call('POST', '/api/chat', { token, body: { ...body, sessionId: 'session_nowhere' } }),
      stage.call('GET', `/api/chat/${agentId}`, { token }),
      stage.call('POST', '/api/chat', { body }),
    ]);
    expect(answers.map(({ status }) => status)).to.equal([404, 404, 404, 401]);
    const stream = await openStream(`${stage.url}/api/chat`, { token, body });
    expect(stream.status).to.equal(404);
  });

  it('keeps the first reply to a key', async () => {
    stage.model.script(says({ text: 'Once.' }));
    const ask = {
      token: stage.token,
      headers: { 'idempotency-key': 'k' },
      body: { message: 'Hi' },
    };
    const first = await stage.call('POST', '/api/chat', ask);
    const second = await stage.call('POST', '/api/chat', ask);
    expect(second.body).to.equal(first.body);
    expect(stage.model.asked.length).to.equal(1);
  });
});

describe('chat as a stream', () => {
  const stage = openForSuite(lab, () => startStage({ egressAllow: ['127.0.0.1'] }));

  const open = (body: object) => openStream(`${stage.url}/api/chat`, { token: stage.token, body });
  const resume = (agentId: string, lastEventId: string) =>
    openStream(`${stage.url}/api/chat/${agentId}`, { token: stage.token, lastEventId });

  it('tells events with their numbers, text as it comes, and the answer at the end', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const looks = says({ text: 'Looking it up.', toolCalls: [call('time_now')] });
    stage.model.script(
      (...asked) => void released.then(() => looks(...asked)),
      says({ text: 'It is late already.' }),
    );
    const stream = await open({ message: 'What time is it?' });
    expect(stream.headers['content-type']).to.match(/^text\/event-stream/);
    // It is subscribed to the text when it tells the first event.
    const first = await stream.until('agent.status');
    release();
    const told = [...first, ...(await stream.until())];
    expect(told[0]).to.include({ event: 'chat' });
    const { agentId, sessionId } = told[0]?.data ?? {};
    const done = {
      agentId,
      sessionId,
      message: 'It is late already.',
      note: null,
      status: 'completed',
      error: null,
    };
    expect(told.at(-1)).to.equal({ event: 'done', data: done });
    const numbered = told.filter(({ id }) => id !== undefined);
    expect(numbered.map(({ data }) => data)).to.equal(await stage.events(agentId));
    expect(numbered.map(({ id }) => id)).to.equal(['1', '2', '3', '4', '5', '6', '7']);
    const deltas = told.filter(({ event }) => event === 'delta').map(({ data }) => data.text);
    expect(deltas.join('')).to.equal('Looking it up.It is late already.');
  });

  it('goes on behind the last number that the reader has', async () => {
    stage.model.script(says({ text: 'One.' }));
    const told = await (await open({ message: 'Count' })).until();
    const { agentId } = told[0]?.data ?? {};
    const rest = await (await resume(agentId, '2')).until();
    expect(rest.map(({ event, id }) => [event, id])).to.equal([
      ['chat', undefined],
      ['agent.message', '3'],
      ['agent.status', '4'],
      ['done', undefined],
    ]);
    const after = await (await resume(agentId, '4')).until();
    expect(after.map(({ event }) => event)).to.equal(['chat', 'done']);
  });

  it('tells the next turn of a conversation alone', async () => {
    stage.model.script(says({ text: 'One.' }), says({ text: 'Two.' }));
    const first = await (await open({ message: 'Count' })).until();
    const { sessionId } = first[0]?.data ?? {};
    const second = await (await open({ message: 'On', sessionId })).until();
    expect(second[1]).to.include({ id: '5', event: 'agent.status' });
    expect(second.at(-1)?.data.message).to.equal('Two.');
  });

  it('goes on through an approval, and survives a reader who leaves', async () => {
    const post = call('http_request', { method: 'POST', url: 'http://127.0.0.1:9/' });
    stage.model.script(says({ toolCalls: [post] }), says({ text: 'Denied, then.' }));
    const stream = await open({ message: 'Post it' });
    const told = await stream.until('agent.tool_call');
    const asked = told.at(-1)?.data.data;
    expect(asked).to.include({ phase: 'approval', status: 'pending', tool: 'http.request' });
    const left = await open({ message: 'Hurry', sessionId: told[0]?.data.sessionId });
    await left.next();
    left.leave();
    const body = { approvalId: asked.approvalId, approved: false };
    await stage.ask('POST', '/api/chat/approve', body);
    expect((await stream.until()).at(-1)?.data.message).to.equal('Denied, then.');
  });

  it('ends when the agent is stopped or removed', async () => {
    for (const [method, path] of [
      ['POST', '/stop'],
      ['DELETE', ''],
    ] as const) {
      stage.model.script(hangs);
      const asked = stage.model.nextAsked();
      const stream = await open({ message: 'Think' });
      const [first] = await stream.until('chat');
      await asked;
      await stage.ask(method, `/api/agents/${first?.data.agentId}${path}`);
      await stream.until();
    }
  });

  it('has the whole text for a reader who comes while the model writes', async () => {
    const { reply, say: write, end } = dictated();
    stage.model.script(reply);
    const stream = await open({ message: 'Think' });
    const [first] = await stream.until('chat');
    await write('One.');
    expect((await stream.until('delta')).at(-1)?.data).to.equal({ text: 'One.' });
    const late = await resume(first?.data.agentId, '2');
    await late.until('chat');
    await write(' Two.');
    await end();
    const told = await late.until();
    const text = told.filter(({ event }) => event === 'delta').map(({ data }) => data.text);
    expect(text.join('')).to.equal('One. Two.');
    await stream.until();
  });
});

describe('a reply that was cut off', () => {
  const NOTE = "The reply was cut off at the model's output limit.";
  const stage = openForSuite(lab, startStage);
  beforeEach(() => stage.model.forget());

  const cut = (text = 'The first of three') => says({ text, finish: 'length' });

  it('is told beside its words in the reply, in the events, and in the conversation', async () => {
    stage.model.script(cut());
    const { body } = await stage.ask('POST', '/api/chat', { message: 'List them' });
    expect(body).to.include({ message: 'The first of three', note: NOTE, status: 'completed' });
    expect((await stage.ask('GET', `/api/chat/${body.agentId}`)).body).to.equal(body);
    const [said] = (await stage.events(body.agentId)).filter(
      ({ type }) => type === 'agent.message',
    );
    expect(said?.data).to.include({ content: 'The first of three', cut: true, note: NOTE });
    const messages = await stage.messages(body.sessionId);
    expect(messages.map(({ role, content }) => [role, content])).to.equal([
      ['user', 'List them'],
      ['assistant', 'The first of three'],
      ['system', NOTE],
    ]);
  });

  it('is told in the stream, and no more when the next turn is whole', async () => {
    stage.model.script(cut(), says({ text: 'And the rest.' }));
    const stream = (body: object) =>
      openStream(`${stage.url}/api/chat`, { token: stage.token, body });
    const first = await (await stream({ message: 'List them' })).until();
    expect(first.at(-1)?.data).to.include({ message: 'The first of three', note: NOTE });
    const { sessionId } = first.at(-1)?.data ?? {};
    const second = await (await stream({ message: 'Go on', sessionId })).until();
    expect(second.at(0)?.data.note).to.be.null();
    expect(second.at(-1)?.data).to.include({ message: 'And the rest.', note: null });
    const { messages } = stage.model.asked[1]?.body ?? { messages: [] };
    expect(messages.slice(-2).map(({ role, content }) => [role, content])).to.equal([
      ['assistant', 'The first of three'],
      ['user', `[Note: ${NOTE}]\n\nGo on`],
    ]);
  });

  it('fails if it has no words', async () => {
    stage.model.script(cut(''));
    const { body } = await stage.ask('POST', '/api/chat', { message: 'Think' });
    expect(body).to.include({
      status: 'failed',
      message: null,
      error:
        'No model answered. fake sent no text before its output limit. Set a higher maxOutputTokens or use another model.',
    });
  });

  it('goes on with its calls, and tells half of one to the model', async () => {
    const toolCalls = [call('time_now', {}, 'c1'), call('time_now', '{"tim', 'c2')];
    stage.model.script(
      says({ text: 'Both.', toolCalls, finish: 'length' }),
      says({ text: 'One of them.' }),
    );
    const { body } = await stage.ask('POST', '/api/chat', { message: 'Both clocks' });
    expect(body).to.include({ message: 'One of them.', note: null });
    const { messages } = stage.model.asked[1]?.body ?? { messages: [] };
    expect(messages.slice(-3).map(({ role }) => role)).to.equal(['assistant', 'tool', 'tool']);
    expect(messages.at(-1)?.content).to.contain('your reply was cut off at the output limit');
  });
});
