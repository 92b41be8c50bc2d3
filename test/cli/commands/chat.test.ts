import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call } from '../../agents/stage.js';
import { until } from '../../harness/app.js';
import { dictated, hangs, says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { start } from '../harness.js';
import { openModelWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** A proxy in front of the daemon, which holds the reply to a message until it is released. */
const holdingProxy = async (to: string) => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer((asked, reply) => {
    const { method, headers, url } = asked;
    const passed = request(`${to}${url}`, { method, headers }, async (answer) => {
      if (url === '/api/chat') await released;
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    asked.pipe(passed);
    reply.on('close', () => passed.destroy());
    passed.on('error', () => reply.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    release,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

describe('chat', () => {
  const world = openForSuite(lab, openModelWorld);

  it('prints the answer alone in a pipe, and goes on in a session', async () => {
    world.model.script(says({ text: 'Hello there.' }), says({ text: 'Again.' }));
    const first = await world.cli(['chat', 'Hi']);
    expect([first.code, first.stdout]).to.equal([0, 'Hello there.\n']);
    const { sessions } = await world.client.sessions.list();
    const again = await world.cli(['chat', '-', '--session', sessions[0]?.id.slice(-6) ?? ''], {
      stdin: 'And now?',
    });
    expect(again.stdout).to.equal('Again.\n');
    expect((await world.client.sessions.list()).sessions.length).to.equal(1);
  });

  it('streams to a terminal, and says what the agent does', async () => {
    world.model.script(
      says({ text: 'I look at the clock.', toolCalls: [call('time_now')] }),
      says({ text: 'It is late.' }),
    );
    const { code, stdout, stderr } = await world.cli(['chat', 'Time?'], { terminal: 80 });
    expect([code, stdout]).to.equal([0, 'I look at the clock.\nIt is late.\n']);
    expect(stderr).to.contain('-- time_now  {} --');
    expect(stderr).to.match(/Continue: adjutant chat --session \w{6} "…"\n$/);
  });

  it('gives the reply as JSON, and every event with --stream', async () => {
    const second = dictated();
    world.model.script(says({ text: 'One.' }), second.reply);
    const reply = JSON.parse((await world.cli(['chat', 'Hi', '--json'])).stdout);
    expect(reply).to.include({ message: 'One.', status: 'completed', error: null });
    const chat = start(['chat', 'Hi', '--json', '--stream', '--server', world.app.url]);
    const nextEvent = async () => JSON.parse(await chat.line()).event;
    const events = [await nextEvent()];
    await second.say('Two.');
    while (!events.includes('delta')) events.push(await nextEvent());
    await second.end();
    while (!events.includes('done')) events.push(await nextEvent());
    expect(events[0]).to.equal('chat');
    expect(await chat.ended).to.equal(0);
  });

  it('marks where another model starts the reply again, and says why', async () => {
    const { baseUrl } = world.model;
    const spare = { name: 'spare', provider: 'openai-compatible' as const, modelId: 'spare' };
    await world.client.models.create({ body: { ...spare, baseUrl } });
    const cut = dictated();
    world.model.script(cut.reply, says({ text: 'The answer is late.' }));
    const chat = start([
      ...['chat', 'Time?', '--stream', '--model', 'spare'],
      ...['--server', world.app.url],
    ]);
    await cut.say('The answer\nis');
    const lines = [await chat.line()];
    await cut.breakOff();
    lines.push(await chat.line(), await chat.line(), await chat.line());
    expect(lines).to.equal([
      ...['The answer', 'is', '-- the reply starts again --', 'The answer is late.'],
    ]);
    expect(await chat.note()).to.match(/^spare .+\. fake answered\.$/);
    expect(await chat.ended).to.equal(0);
  });

  it('shows that the agent waits for a word, and how to give it', async () => {
    const post = call('http_request', { method: 'POST', url: 'http://127.0.0.1:9/' });
    world.model.script(says({ toolCalls: [post] }), says({ text: 'Well.' }));
    const running = world.cli(['chat', 'Post it']);
    const [one] = await until(
      async () => (await world.client.approvals.list({ query: { status: 'pending' } })).approvals,
      (found) => found.length === 1,
    );
    const body = { approvalId: one?.id ?? '', approved: false };
    await world.client.approvals.approve({ body });
    const { stdout, stderr } = await running;
    expect(stdout).to.equal('Well.\n');
    expect(stderr).to.contain('-- waiting for your approval: http.request');
    expect(stderr).to.contain(`adjutant approvals approve ${one?.digest.slice(0, 8)}`);
  });

  it('exits 1 and says why where the agent fails', async () => {
    world.model.script(...Array.from({ length: 6 }, () => says({ toolCalls: [call('time_now')] })));
    const { code, stdout, stderr } = await world.cli(['chat', 'Loop']);
    expect([code, stdout]).to.equal([1, '']);
    expect(stderr).to.contain('The agent failed: stopped in a loop');
  });

  it('has a conversation at a terminal', async () => {
    world.model.script(says({ text: 'One.' }), says({ text: 'Two.' }));
    const answers = ['Count', '', 'On', '/quit'];
    const { code, stdout } = await world.cli(['chat'], { terminal: 80, answers });
    expect([code, stdout]).to.equal([0, 'One.\nTwo.\n']);
    expect(world.model.asked.at(-1)?.body.messages.length).to.equal(4);
    expect((await world.cli(['chat'])).code).to.equal(2);
  });

  it('stops the agent on ^C and exits 130', async () => {
    world.model.script(hangs);
    const asked = world.model.nextAsked();
    const chat = start(['chat', 'Think', '--server', world.app.url]);
    await asked;
    chat.interrupt();
    expect(await chat.note()).to.match(/^Stopped\. Continue: adjutant chat --session \w{6}$/);
    expect(await chat.ended).to.equal(130);
    const { agents } = await world.client.agents.list({ query: { limit: 1 } });
    expect(agents[0]?.status).to.equal('stopped');
  });

  it('stops the agent on ^C before the daemon has said which one it began', async () => {
    world.model.script(hangs);
    const slow = await holdingProxy(world.app.url);
    const { token } = await world.app.register('early');
    const asked = world.model.nextAsked();
    const chat = start(['chat', 'Think', '--server', slow.url, '--server-token', token]);
    expect(await chat.note()).to.contain('Use --server-token-file instead');
    await asked;
    chat.interrupt();
    slow.release();
    expect(await chat.note()).to.match(/^Stopped\. Continue: adjutant chat --session \w{6}$/);
    expect(await chat.ended).to.equal(130);
    const { body } = await world.app.call('GET', '/api/agents', { token });
    expect(body.agents.map(({ status }: { status: string }) => status)).to.equal(['stopped']);
    slow.close();
  });

  it('names what is wrong', async () => {
    const { code, stderr } = await world.cli(['chat', 'Hi', '--model', 'none']);
    expect([code, stderr]).to.match(/2,.*--model +must be one of the models/s);
    expect((await world.cli(['chat', 'Hi', '--session', 'nowhere'])).code).to.equal(1);
  });
});
