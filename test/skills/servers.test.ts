import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Listed {
  id: string;
  status: string;
  reason: string | null;
}

describe('MCP servers of mcp.json', () => {
  let stage: Stage;
  let file: string;
  before(async () => {
    stage = await openStage();
    file = join(stage.test.home, 'mcp.json');
  });
  after(() => stage.test.stop());

  const write = (servers: unknown) => writeFile(file, JSON.stringify({ mcpServers: servers }));
  const list = async (): Promise<Listed[]> =>
    (await stage.ask('GET', '/api/skills?source=mcp')).body.skills;

  it('are there without a restart, the bad ones with a reason', async () => {
    await write({
      down: { type: 'http', url: 'http://127.0.0.1:1/mcp', disabled: false },
      neither: { args: [] },
      both: { command: 'x', url: 'http://127.0.0.1:1/' },
      http: { command: 'x' },
      'a b': { command: 'x' },
      old: { type: 'sse', url: 'http://127.0.0.1:1/sse' },
    });
    const all = await until(list, (found) => found.some(({ status }) => status === 'failed'));
    expect(all.map(({ id, status, reason }) => [id, status, reason])).to.equal([
      [
        'a b@mcp',
        'invalid',
        'The server name must be 1 to 40 letters, digits, - and _, starting with a letter or digit',
      ],
      ['both@mcp', 'invalid', 'contains a conflict between exclusive peers [command, url]'],
      ['down', 'failed', '127.0.0.1: the connection was refused'],
      ['http@mcp', 'invalid', 'The name http is reserved. Choose another name'],
      ['neither@mcp', 'invalid', 'must contain at least one of [command, url]'],
      ['old@mcp', 'invalid', 'type must be one of [stdio, http, streamable-http, streamableHttp]'],
    ]);
  });

  it('show no secret, and are changed in the file alone', async () => {
    const url = 'http://127.0.0.1:1/mcp';
    await write({ down: { url, headers: { key: 'canary-in-file' } } });
    const shown = await stage.ask('GET', '/api/skills/down');
    expect(shown.body.server).to.include({ origin: 'file', headersSet: ['key'], url });
    expect(shown.text).to.not.contain('canary-in-file');
    const taken = await stage.add({ name: 'down', url });
    expect([taken.status, taken.body.code]).to.equal([409, 'name_taken']);
    const kept = await stage.ask('DELETE', '/api/skills/mcp/down');
    expect([kept.status, kept.body.code]).to.equal([409, 'in_file']);
  });

  it('win over one of the same name that was added before', async () => {
    await write({});
    await stage.add({ name: 'twice', url: 'http://127.0.0.1:1/added' });
    await write({ twice: { url: 'http://127.0.0.1:1/filed' } });
    const [first, second] = await list();
    expect([first?.id, second?.id, second?.status]).to.equal(['twice', 'twice@mcp', 'invalid']);
    expect((await stage.ask('GET', '/api/skills/twice')).body.server.origin).to.equal('file');
    expect((await stage.ask('DELETE', '/api/skills/mcp/twice%40mcp')).status).to.equal(204);
    expect((await list()).map(({ id }) => id)).to.equal(['twice']);
  });

  it('do no harm where the file is none', async () => {
    for (const text of ['{', '[]', 'null', '{"mcpServers":[]}', 'x'.repeat(1_048_577)]) {
      await writeFile(file, text);
      const [only, ...more] = await list();
      expect([only?.id, only?.status, more]).to.equal(['mcp.json@mcp', 'invalid', []]);
    }
    await rm(file);
    expect(await list()).to.equal([]);
  });
});

describe('MCP servers of the API', () => {
  const server = { name: 'inner', url: 'http://127.0.0.1:1/mcp' };
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.test.stop());

  it('are added by admins alone, once', async () => {
    expect((await stage.plain('POST', '/api/skills/mcp', server)).status).to.equal(403);
    const added = await stage.add(server);
    expect([added.status, added.body.status]).to.equal([201, 'failed']);
    const again = await stage.add(server);
    expect([again.status, again.body.code]).to.equal([409, 'name_taken']);
  });

  it('are to others as if they were not there', async () => {
    const hidden = await stage.plain('GET', '/api/skills/inner');
    const missing = await stage.plain('GET', '/api/skills/nothing');
    expect([hidden.status, hidden.body.message]).to.equal([404, missing.body.message]);
    expect((await stage.plain('GET', '/api/skills')).text).to.not.contain('inner');
    const run = await stage.plain('POST', '/api/skills/inner/tools/x/execute', {});
    expect(run.status).to.equal(404);
    for (const verb of ['accept', 'refresh']) {
      const body = verb === 'accept' ? { digest: '0'.repeat(64) } : undefined;
      const reply = await stage.plain('POST', `/api/skills/inner/${verb}`, body);
      expect(reply.status).to.equal(403);
    }
    expect((await stage.plain('DELETE', '/api/skills/mcp/inner')).status).to.equal(403);
  });

  it('are removed once', async () => {
    const both = await Promise.all([
      stage.ask('DELETE', '/api/skills/mcp/inner'),
      stage.ask('DELETE', '/api/skills/mcp/inner'),
    ]);
    expect(both.map(({ status }) => status).sort()).to.equal([204, 404]);
    expect((await stage.ask('GET', '/api/skills/inner')).status).to.equal(404);
  });

  it('are refused by the field', async () => {
    const cases: [object, string][] = [
      [{ name: 'x' }, ''],
      [{ name: 'a b', command: 'x' }, 'name'],
      [{ name: 'x', url: 'ftp://x' }, 'url'],
      [{ name: 'x', url: 'http://u:p@x' }, 'url'],
      [{ name: 'x', command: 'x', env: { 'a b': 'c' } }, 'env.a b'],
      [{ name: 'x', command: 'x', args: ['\0'] }, 'command'],
      [{ name: 'x', command: 'x', more: 1 }, 'more'],
    ];
    for (const [body, path] of cases) {
      const reply = await stage.ask('POST', '/api/skills/mcp', body);
      expect([reply.status, reply.body.details?.[0].path], path).to.equal([400, path]);
    }
    const reserved = await stage.ask('POST', '/api/skills/mcp', { name: 'tools', command: 'x' });
    expect([reserved.status, reserved.body.code]).to.equal([409, 'name_taken']);
    const { body } = await stage.ask('POST', '/api/skills/time/refresh');
    expect(body.code).to.equal('no_server');
  });
});
