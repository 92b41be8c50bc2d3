import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { loginOwner, registerOwner } from '../harness/account.js';
import { untilMatches } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { hangs, type Openai, says, startOpenai } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** A service that takes requests and never answers. */
const startSilence = async (): Promise<{ server: Server; url: string; asked(): number }> => {
  let asked = 0;
  const server = createServer(() => {
    asked++;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { server, url: `http://127.0.0.1:${port}/`, asked: () => asked };
};

const INTERRUPTED = /^Interrupted while running/;

describe('an agent and a restart', () => {
  let stage: Stage;
  let home: string;
  let silence: Awaited<ReturnType<typeof startSilence>>;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    silence = await startSilence();
    stage = await startStage({ egressAllow: ['127.0.0.1'] }, undefined, home);
  });
  afterEach(async () => {
    await stage.stop();
    silence.server.closeAllConnections();
    silence.server.close();
    await rm(home, { recursive: true });
  });

  it('asks the model again where the call was cut off', async () => {
    stage.model.script(hangs, says({ text: 'After all.' }));
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Go on' });
    await asked;
    await stage.restart();
    expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'After all.' });
    const states = (await stage.events(id)).filter(({ type }) => type === 'agent.status');
    expect(states.map(({ data }) => [data.status, data.resumed ?? false])).to.equal([
      ['queued', false],
      ['running', false],
      ['running', true],
      ['completed', false],
    ]);
  });

  it('tells the model of a call that was cut off, never repeats it, and runs those not begun', async () => {
    const calls = [
      call('http_request', { method: 'POST', url: silence.url }, 'cut'),
      call('time_now', {}, 'waiting'),
    ];
    stage.model.script(says({ toolCalls: calls }), says({ text: 'I see.' }));
    const { id } = await stage.spawn({ prompt: 'Post', tools: ['http.request'] });
    await untilMatches(async () => silence.asked(), 1);
    await stage.restart();
    expect(await stage.reaches(id)).to.include({ status: 'completed', steps: 2 });
    expect(silence.asked()).to.equal(1);
    const [cut, waiting] = stage.model.asked[1]?.body.messages.slice(-2) ?? [];
    expect(cut).to.include({ role: 'tool', tool_call_id: 'cut' });
    expect(cut?.content).to.match(INTERRUPTED);
    expect(waiting).to.include({ role: 'tool', tool_call_id: 'waiting' });
    expect(waiting?.content).to.contain('weekday');
  });

  it('does not run what a paused agent had asked for, once its owner has said something else', async () => {
    const calls = [
      call('http_request', { method: 'POST', url: silence.url }, 'cut'),
      call('notify_send', { message: 'never' }, 'waiting'),
    ];
    stage.model.script(says({ toolCalls: calls }), says({ text: 'As you wish.' }));
    const { id } = await stage.spawn({ prompt: 'Post', tools: ['http.request'] });
    await untilMatches(async () => silence.asked(), 1);
    await stage.ask('POST', `/api/agents/${id}/pause`);
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Do not!' });
    await stage.ask('POST', `/api/agents/${id}/resume`);
    expect((await stage.reaches(id)).status).to.equal('completed');
    const said = stage.model.asked[1]?.body.messages.slice(-3) ?? [];
    expect(said.map(({ role }) => role)).to.equal(['tool', 'tool', 'user']);
    expect(said[0]?.content).to.match(INTERRUPTED);
    expect(said[1]?.content).to.equal('Not run: a new message arrived first.');
    expect((await stage.ask('GET', '/api/notifications')).body.notifications).to.equal([]);
  });

  it('leaves paused and finished agents as they are', async () => {
    stage.model.script(says({ text: 'Done.' }), hangs);
    const done = await stage.spawn({ prompt: 'One' });
    await stage.reaches(done.id);
    const asked = stage.model.nextAsked();
    const paused = await stage.spawn({ prompt: 'Two' });
    await asked;
    await stage.ask('POST', `/api/agents/${paused.id}/pause`);
    await stage.restart();
    expect((await stage.agent(done.id)).status).to.equal('completed');
    expect((await stage.agent(paused.id)).status).to.equal('paused');
    stage.model.script(says({ text: 'Two.' }));
    await stage.ask('POST', `/api/agents/${paused.id}/resume`);
    expect((await stage.reaches(paused.id)).result).to.equal('Two.');
  });
});

describe('an agent and a SIGKILL', () => {
  let home: string;
  let model: Openai;
  let silence: Awaited<ReturnType<typeof startSilence>>;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    silence = await startSilence();
    model = await startOpenai();
  });
  afterEach(async () => {
    await model.stop();
    silence.server.closeAllConnections();
    silence.server.close();
    await rm(home, { recursive: true });
  });

  const start = () =>
    startDaemon({
      home,
      env: {
        ADJUTANT_MODEL_URL: model.baseUrl,
        ADJUTANT_MODEL_NAME: 'fake',
        ADJUTANT_EGRESS_ALLOW: '127.0.0.1',
      },
    });

  it('goes on from the last committed step, in a model call and in a tool call', async () => {
    const first = await start();
    let owner = await registerOwner(first.url);
    const post = call('http_request', { method: 'POST', url: silence.url }, 'cut');
    model.script(says({ toolCalls: [post] }));
    const acting = await owner.agents.spawn({ body: { prompt: 'Act', tools: ['http'] } });
    await untilMatches(async () => silence.asked(), 1);
    model.script(hangs);
    const asked = model.nextAsked();
    const thinking = await owner.agents.spawn({ body: { prompt: 'Think' } });
    await asked;
    await first.end('SIGKILL');

    model.script(says({ text: 'Resumed.' }), says({ text: 'Resumed.' }));
    const second = await start();
    owner = await loginOwner(second.url);
    for (const { id } of [acting, thinking]) {
      const agent = await untilMatches(() => owner.agents.get({ id }), { status: 'completed' });
      expect(agent).to.include({ result: 'Resumed.', steps: 2 });
    }
    expect(silence.asked()).to.equal(1);
    const last = model.asked.slice(-2).map(({ body }) => String(body.messages.at(-1)?.content));
    expect(last.filter((content) => INTERRUPTED.test(content)).length).to.equal(1);
    expect(last.filter((content) => content === 'Think').length).to.equal(1);
    await second.end('SIGTERM');
  });
});
