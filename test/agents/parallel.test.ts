import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign, until, untilMatches } from '../harness/app.js';
import { says } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const SECRET = 'a secret of some length';

/** A host that answers when it is told to. */
const startHost = async () => {
  const open: { path: string; response: ServerResponse }[] = [];
  const arrived: string[] = [];
  const server = createServer((request, response) => {
    const path = `${request.method} ${request.url?.slice(1)}`;
    arrived.push(path);
    open.push({ path, response });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: (path: string) => `http://127.0.0.1:${port}/${path}`,
    arrived,
    open,
    /** Resolves when so many have arrived in all. */
    has: (count: number) => untilMatches(async () => arrived.length, count),
    /** Answers all that wait, the newest first. */
    answer: () => {
      for (const { path, response } of open.splice(0).reverse()) response.end(`did ${path}`);
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

describe('the calls of one answer', () => {
  let stage: Stage;
  let host: Awaited<ReturnType<typeof startHost>>;
  beforeEach(async () => {
    host = await startHost();
    stage = await startStage({ egressAllow: ['127.0.0.1'] });
    await stage.ask('POST', '/api/hooks', {
      name: 'look',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'look', webhookSecret: SECRET },
      action: 'spawn_agent',
      // What a hook grants holds for what has read from outside.
      actionConfig: { agentPrompt: 'Look', agentTools: ['http'] },
    });
  });
  afterEach(async () => {
    await host.stop();
    await stage.stop();
  });

  const spawnWith = async (...paths: string[]): Promise<string> => {
    const calls = paths.map((path) => {
      const [method = 'GET', name = ''] = path.split(' ');
      return call('http_request', { method, url: host.url(name) }, `c_${name}`);
    });
    stage.model.script(says({ toolCalls: calls }), says({ text: 'Read.' }));
    const headers = { 'x-hub-signature-256': sign(SECRET, '{}') };
    await stage.call('POST', '/api/webhooks/look', { body: '{}', headers });
    const agents = async () => (await stage.ask('GET', '/api/agents')).body.agents;
    const [{ id }] = await until(agents, (all) => all.length === 1);
    return id;
  };
  const resultsOf = async (id: string) => {
    const { sessionId } = await stage.agent(id);
    const tools = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
    return tools.map(({ content }) => /did \w+ \w+/.exec(content)?.[0]);
  };

  it('run side by side where they change nothing, with results in the order asked', async () => {
    const id = await spawnWith('GET a', 'GET b', 'GET c', 'GET d');
    await host.has(4);
    host.answer();
    expect((await stage.reaches(id)).status).to.equal('completed');
    expect(await resultsOf(id)).to.equal(['did GET a', 'did GET b', 'did GET c', 'did GET d']);
    const phases = (await stage.events(id))
      .filter(({ type }) => type === 'agent.tool_call')
      .map(({ data }) => `${data.phase} ${data.callId}`);
    expect(phases).to.equal([
      ...['call c_a', 'call c_b', 'call c_c', 'call c_d'],
      ...['result c_a', 'result c_b', 'result c_c', 'result c_d'],
    ]);
  });

  it('run eight at a time', async () => {
    const names = Array.from({ length: 10 }, (_, at) => `GET n${at}`);
    const id = await spawnWith(...names);
    await host.has(8);
    expect((await stage.events(id)).filter(({ data }) => data.phase === 'call').length).to.equal(8);
    host.answer();
    await host.has(10);
    host.answer();
    await stage.reaches(id);
    expect(await resultsOf(id)).to.equal(names.map((name) => `did ${name}`));
  });

  it('run one after the other where they have effects, after the reads before them', async () => {
    const order = ['GET a', 'GET b', 'POST c', 'POST d', 'GET e'];
    const id = await spawnWith(...order);
    for (const count of [2, 3, 4, 5]) {
      await host.has(count);
      expect(host.open.length).to.equal(count === 2 ? 2 : 1);
      host.answer();
    }
    await stage.reaches(id);
    expect(host.arrived.slice(2)).to.equal(order.slice(2));
    expect(await resultsOf(id)).to.equal(order.map((name) => `did ${name}`));
  });

  it('all end when the agent is stopped, and what had come is kept', async () => {
    const id = await spawnWith('GET a', 'GET b', 'POST c');
    await host.has(2);
    const [first, second] = host.open;
    const gone = once(second!.response, 'close');
    first?.response.end(`did ${first.path}`);
    await untilMatches(() => resultsOf(id), { length: 1 });
    await stage.ask('POST', `/api/agents/${id}/stop`);
    await gone;
    expect((await stage.agent(id)).status).to.equal('stopped');
    expect(host.arrived.length).to.equal(2);
    expect((await resultsOf(id)).filter((result) => result !== undefined).length).to.equal(1);
  });
});
