import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock } from '../harness/app.js';
import { type Everything, startEverything } from '../harness/mcp.js';
import { openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const CUT = '127.0.0.1: the connection was interrupted';

describe('the real server-everything over streamable HTTP', () => {
  const clock = frozenClock();
  let stage: Stage;
  let everything: Everything;
  before(async () => {
    [stage, everything] = [await openStage({ clock }), await startEverything()];
  });
  after(async () => {
    await stage.test.stop();
    await everything.kill();
  });

  it('is reached at its own private address, and its tools are listed', async () => {
    const { body, status } = await stage.add({ name: 'everything', url: everything.url });
    expect([status, body.status]).to.equal([201, 'ready']);
    expect(body.tools.length >= 12).to.be.true();
    const all = await stage.ask('GET', '/api/skills/tools/all?skillId=everything&limit=200');
    const names = all.body.tools.map((tool: { name: string }) => tool.name);
    expect(names).to.include(['echo', 'get-sum', 'trigger-long-running-operation']);
    const [{ source, permission }] = all.body.tools;
    expect([source, permission]).to.equal(['mcp', 'allow']);
  });

  it('is named to nobody who may not use it, by the permissions neither', async () => {
    const override = (skillId: string) =>
      stage.plain('PUT', '/api/skills/permissions', { skillId, action: '*', level: 'deny' });
    const [hidden, missing] = [await override('everything'), await override('nothing')];
    expect([hidden.status, hidden.body.message]).to.equal([400, missing.body.message]);
    expect(hidden.text).to.not.contain('everything');
  });

  it('runs tools: text, structure, images, progress', async () => {
    const echo = await stage.run('everything', 'echo', { message: 'hello' });
    expect(echo.body).to.equal({ result: { text: 'Echo: hello' } });
    const weather = await stage.run('everything', 'get-structured-content', {
      location: 'Chicago',
    });
    expect(weather.body.result.structured).to.include({ conditions: 'Light rain / drizzle' });
    const image = await stage.run('everything', 'get-tiny-image');
    expect(image.body.result.text).to.match(/\[image\/png, \d+ bytes\]/);
    const long = { duration: 1, steps: 4 };
    const { body } = await stage.run('everything', 'trigger-long-running-operation', long);
    expect(body.result.text).to.contain('completed');
  });

  it('refuses wrong arguments in its own words', async () => {
    const { status, body } = await stage.run('everything', 'get-sum', { a: 'x' });
    expect([status, body.code]).to.equal([424, 'tool_failed']);
    expect(body.message).to.contain('a');
  });

  it('that dies in a call fails it soon, and is found again when it is back', async () => {
    const called = everything.called();
    const call = stage.run('everything', 'trigger-long-running-operation', {
      duration: 30,
      steps: 3,
    });
    await called;
    await everything.kill();
    const died = await call;
    expect([died.status, died.body.message]).to.equal([
      ...[424, `everything.trigger-long-running-operation: ${CUT}`],
    ]);
    expect((await stage.run('everything', 'echo', { message: 'x' })).status).to.equal(424);
    everything = await startEverything(Number(everything.address.split(':')[1]));
    clock.forward(60_000);
    const back = await stage.run('everything', 'echo', { message: 'back' });
    expect(back.body).to.equal({ result: { text: 'Echo: back' } });
  });

  it('that forgets the session gets a new one', async () => {
    await everything.kill();
    everything = await startEverything(Number(everything.address.split(':')[1]));
    clock.forward(60_000);
    const { body } = await stage.run('everything', 'echo', { message: 'anew' });
    expect(body).to.equal({ result: { text: 'Echo: anew' } });
  });
});

describe('an MCP server over HTTP that means ill', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.test.stop());

  const serve = async (listener: RequestListener) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'string' || !address) throw new Error('No address');
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    return { url: `http://127.0.0.1:${address.port}/mcp`, close };
  };

  it('cannot send us elsewhere', async () => {
    const canary: string[] = [];
    const other = await serve((request, response) => {
      canary.push(request.url ?? '');
      response.end();
    });
    for (const status of [301, 302, 307, 308]) {
      const bad = await serve((_, response) => {
        response.writeHead(status, { location: other.url }).end();
      });
      const { body } = await stage.add({ name: `redirect-${status}`, url: bad.url });
      expect(body.status).to.equal('failed');
      bad.close();
    }
    expect(canary).to.equal([]);
    other.close();
  });

  it('never reaches metadata services, whatever an admin says', async () => {
    const { status, body } = await stage.add({ name: 'meta', url: 'http://169.254.169.254/mcp' });
    expect([status, body.status]).to.equal([201, 'failed']);
    expect(body.reason).to.contain('metadata services are always blocked');
  });

  it('is given up when it floods, hangs or talks nonsense', async () => {
    const replies: Record<string, RequestListener> = {
      nonsense: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('hi'),
      garbage: (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
      refusal: (_, response) => response.writeHead(401).end(),
      flood: (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const more = (): void => {
          while (!response.destroyed && response.write(`: ${'x'.repeat(65_536)}\n`));
          response.once('drain', more);
        };
        more();
      },
    };
    for (const [name, listener] of Object.entries(replies)) {
      const bad = await serve(listener);
      const { status, body } = await stage.add({ name, url: bad.url });
      expect([status, body.status], name).to.equal([201, 'failed']);
      expect(body.reason.length < 600).to.be.true();
      bad.close();
    }
  });

  /** Answers all but calls of a tool. */
  const answering =
    (callTool: RequestListener): RequestListener =>
    async (request, response) => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method } = Object(await json(request));
      if (method === 'tools/call') return callTool(request, response);
      const serverInfo = { name: 'x', version: '1' };
      const tool = { name: 'act', inputSchema: { type: 'object' } };
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18', serverInfo, capabilities: { tools: {} } }
          : { tools: [tool] };
      if (id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };

  const STREAM = { 'content-type': 'text/event-stream' };
  /** What a server sends of its reply to a call before it breaks the connection. */
  const BREAKS: Record<string, (response: ServerResponse, close: () => void) => unknown> = {
    nothing: (_, close) => close(),
    head: (response, close) => response.writeHead(200, STREAM).write(': \n\n', close),
    event: (response, close) => response.writeHead(200, STREAM).write('id: 1\ndata: \n\n', close),
  };

  it('that breaks a call gets it once, whatever it sent of its reply', async () => {
    for (const [name, breakOff] of Object.entries(BREAKS)) {
      let calls = 0;
      const bad = await serve(
        answering((_, response) => {
          calls += 1;
          breakOff(response, () => response.destroy());
        }),
      );
      expect((await stage.add({ name, url: bad.url })).body.status).to.equal('ready');
      const { status, body } = await stage.run(name, 'act');
      expect([status, body.message, calls]).to.equal([424, `${name}.act: ${CUT}`, 1]);
      bad.close();
    }
  });

  it('gets its headers, which nobody else sees', async () => {
    const seen: unknown[] = [];
    const reply = answering((_, response) => response.writeHead(500).end());
    const server = await serve((request, response) => {
      seen.push(request.headers['x-canary']);
      reply(request, response);
    });
    const headers = { 'x-canary': 'canary-of-the-header' };
    const { body, text } = await stage.add({ name: 'keyed', url: server.url, headers });
    expect([body.status, body.server.headersSet]).to.equal(['ready', ['x-canary']]);
    expect(seen[0]).to.equal('canary-of-the-header');
    expect(text).to.not.contain('canary-of-the-header');
    const rows = await stage.test.app.store.db.selectFrom('mcp_servers').selectAll().execute();
    expect(JSON.stringify(rows)).to.not.contain('canary-of-the-header');
    const audit = await stage.ask('GET', '/api/admin/audit?action=skills.mcp_add');
    expect(audit.text).to.not.contain('canary-of-the-header');
    expect(audit.body.entries[0]).to.include({ action: 'skills.mcp_add', target: 'keyed' });
    server.close();
  });
});
