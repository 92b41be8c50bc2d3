import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Reply, says } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const DONE = says({ text: 'Done.' });

const sink = async () => {
  const heard: { method: string; headers: Record<string, unknown>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    heard.push({ method: request.method ?? '', headers: request.headers, body });
    response.end(request.url === '/big' ? 'x'.repeat(200_000) : 'thanks');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { heard, url: `http://127.0.0.1:${port}/`, stop: () => server.close() };
};

describe('the agent loop', () => {
  let stage: Stage;
  let target: Awaited<ReturnType<typeof sink>>;
  before(async () => {
    target = await sink();
    stage = await startStage({ egressAllow: ['127.0.0.1'] });
  });
  after(async () => {
    await stage.stop();
    target.stop();
  });
  afterEach(() => {
    stage.model.asked.length = 0;
    target.heard.length = 0;
  });

  it('takes the answer of the model as its result', async () => {
    stage.model.script(says({ text: 'Forty-two.', usage: { input: 100, output: 7 } }));
    const { id } = await stage.spawn({ prompt: 'How much is it?', topic: 'sums' });
    const agent = await stage.reaches(id);
    expect(agent).to.include({ status: 'completed', result: 'Forty-two.', error: null, steps: 1 });
    expect(agent.usage).to.equal({ inputTokens: 100, outputTokens: 7, costUsd: 0 });
    const [system, user] = stage.model.asked[0]?.body.messages ?? [];
    expect(system?.role).to.equal('system');
    expect(user).to.equal({ role: 'user', content: 'How much is it?' });
  });

  it('tells every change as an event, numbered from 1 without holes', async () => {
    stage.model.script(
      says({ text: 'Looking.', toolCalls: [call('time_now')] }),
      says({ text: 'Late.' }),
    );
    const { id } = await stage.spawn({ prompt: 'What time is it?' });
    await stage.reaches(id);
    const events = await stage.events(id);
    expect(events.map((event) => event.id)).to.equal([1, 2, 3, 4, 5, 6, 7]);
    expect(
      events.map(({ type, data }) => [type, data.status ?? data.phase ?? data.content]),
    ).to.equal([
      ['agent.status', 'queued'],
      ['agent.status', 'running'],
      ['agent.message', 'Looking.'],
      ['agent.tool_call', 'call'],
      ['agent.tool_call', 'result'],
      ['agent.message', 'Late.'],
      ['agent.status', 'completed'],
    ]);
    const { messageId, ...said } = events[5]?.data ?? {};
    expect(said).to.equal({ role: 'assistant', content: 'Late.', step: 2, model: 'fake' });
    const { body } = await stage.ask(
      'GET',
      `/api/sessions/${(await stage.agent(id)).sessionId}/messages`,
    );
    expect(body.messages.at(-1)).to.include({ id: messageId, content: 'Late.' });
  });

  it('runs several calls of one answer and gives all results to the model, in their order', async () => {
    const calls = [
      call('time_now', {}, 'a'),
      call('notify_send', { message: 'Halfway there' }, 'b'),
      call('time_now', { timezone: 'Nowhere/Else' }, 'c'),
    ];
    stage.model.script(says({ toolCalls: calls }), says({ text: 'Done.' }));
    const { id } = await stage.spawn({ prompt: 'Do three things' });
    expect((await stage.reaches(id)).status).to.equal('completed');
    const said = stage.model.asked[1]?.body.messages.slice(2) ?? [];
    expect(said.map(({ role, tool_call_id }) => [role, tool_call_id])).to.equal([
      ['assistant', undefined],
      ['tool', 'a'],
      ['tool', 'b'],
      ['tool', 'c'],
    ]);
    expect(said[3]?.content).to.contain('IANA');
    const { body } = await stage.ask('GET', '/api/notifications?unread=true');
    expect(body.notifications.map(({ body }: { body: string }) => body)).to.equal([
      'Halfway there',
    ]);
  });

  it('tells two calls with one id apart', async () => {
    const twins = [call('time_now', {}, 'x'), call('time_now', {}, 'x')];
    stage.model.script(
      says({ toolCalls: twins }),
      says({ toolCalls: [call('time_now', {}, 'x')] }),
      says({ text: 'Done.' }),
    );
    const { id, sessionId } = await stage.spawn({ prompt: 'Repeat yourself' });
    expect((await stage.reaches(id)).status).to.equal('completed');
    const ids = (await stage.messages(sessionId)).flatMap(({ toolCalls = [] }) =>
      toolCalls.map((one) => one.id),
    );
    expect(ids[0]).to.equal('x');
    expect(new Set(ids).size).to.equal(3);
    const results = (await stage.events(id)).filter(({ data }) => data.phase === 'result');
    expect(results.map(({ data }) => [data.callId, data.ok])).to.equal(
      ids.map((one) => [one, true]),
    );
  });

  it('runs a tool with effects where it was granted, and without asking', async () => {
    const post = call('http_request', { method: 'POST', url: target.url, body: 'hello' });
    stage.model.script(says({ toolCalls: [post] }), says({ text: 'Posted.' }));
    const granted = await stage.spawn({ prompt: 'Post it', tools: ['http.request'] });
    await stage.reaches(granted.id);
    expect(target.heard.map(({ method, body }) => [method, body])).to.equal([['POST', 'hello']]);
    expect(target.heard[0]?.headers['idempotency-key']).to.equal(`${granted.id}_call_http_request`);
  });

  it('tells the model of a tool that there is not', async () => {
    stage.model.script(says({ toolCalls: [call('rm_rf')] }), says({ text: 'A pity.' }));
    const { id } = await stage.spawn({ prompt: 'Remove it' });
    expect((await stage.reaches(id)).status).to.equal('completed');
    expect(stage.model.asked[1]?.body.messages.at(-1)?.content).to.contain(
      'The tool rm_rf is not available',
    );
  });

  it('cuts an enormous result of a tool, and more so in the event', async () => {
    const big = call('http_request', { method: 'GET', url: `${target.url}big` });
    stage.model.script(says({ toolCalls: [big] }), DONE);
    const { id } = await stage.spawn({ prompt: 'Read it', tools: ['http'] });
    expect((await stage.reaches(id)).status).to.equal('completed');
    const read = String(stage.model.asked[1]?.body.messages.at(-1)?.content);
    expect(read.length).to.be.within(64_000, 65_536);
    const { body, truncated } = JSON.parse(read);
    expect(truncated).to.equal({
      missingChars: 200_000 - body.length,
      nextOffset: body.length,
    });
    const result = (await stage.events(id)).find(({ data }) => data.phase === 'result');
    expect(String(result?.data.result).length).to.be.within(2000, 2100);
  });

  it('reads an enormous page in parts, each of which a model gets whole', async () => {
    let all = '';
    const reads: Reply = (response, request) => {
      const { role, content } = request.messages.at(-1) ?? {};
      const part = role === 'tool' ? JSON.parse(String(content)) : { truncated: { nextOffset: 0 } };
      all += part.body ?? '';
      const offset = part.truncated?.nextOffset;
      if (offset === undefined) return DONE(response, request);
      const args = { method: 'GET', url: `${target.url}big`, offset };
      says({ toolCalls: [call('http_request', args, `at_${offset}`)] })(response, request);
    };
    stage.model.script(...Array.from({ length: 5 }, () => reads));
    const { id } = await stage.spawn({ prompt: 'Read it' });
    // From the first part on it is untrusted; one approval for the host is enough.
    await stage.reaches(id, 'waiting_approval');
    const { body } = await stage.ask('GET', '/api/chat/approvals?status=pending');
    const approvalId = body.approvals[0].id;
    await stage.ask('POST', '/api/chat/approve', { approvalId, approved: true, scope: 'host' });
    expect((await stage.reaches(id)).status).to.equal('completed');
    expect(all).to.equal('x'.repeat(200_000));
  });

  it('works for twenty agents at once', async () => {
    stage.model.script(...Array.from({ length: 20 }, (_, n) => says({ text: `Answer ${n}` })));
    const spawned = await Promise.all(
      Array.from({ length: 20 }, (_, n) => stage.spawn({ prompt: `Question ${n}` })),
    );
    const ended = await Promise.all(spawned.map(({ id }) => stage.reaches(id)));
    expect(ended.map(({ status }) => status)).to.equal(Array(20).fill('completed'));
    expect(new Set(ended.map(({ result }) => result)).size).to.equal(20);
  });
});
