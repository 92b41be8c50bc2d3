import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Config } from '../../src/config.js';
import { startApp, type TestApp, until } from '../harness/app.js';
import { queriesOf, quotingReport, startResearcher, startWeb } from '../harness/web.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const QUESTION = 'When was the bridge of Alton closed?';
const page = (text: string): string => `<title>T</title><article><p>${text}</p></article>`;
const BRIDGE = 'Alton is a town. The bridge of Alton was closed in March. People swim now.';

describe('research that lacks something', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  let web: Awaited<ReturnType<typeof startWeb>>;
  let model: Awaited<ReturnType<typeof startResearcher>>;

  before(async () => {
    web = await startWeb([
      { '/bridge': page(BRIDGE), '/river': page('The river is deep.') },
      {
        '/robots.txt': (response) => void response.writeHead(500).end('down'),
        '/bridge': page('The bridge of Alton is closed to programs.'),
      },
    ]);
    model = await startResearcher((task, prompt) =>
      task === 'write' ? quotingReport(prompt) : queriesOf('one', 'two', 'three'),
    );
    app = await startApp({ config: { registration: 'open', egressAllow: web.egressAllow } });
    owner = await app.register('owner');
    const text = 'My note: the bridge of Alton was closed on a Monday.';
    await app.call('POST', '/api/knowledge', { token: owner.token, body: { text } });
  });
  after(async () => {
    await app.stop();
    await web.stop();
    await model.stop();
  });
  beforeEach(() => {
    web.fails(false);
    web.finds();
    web.forget();
  });
  const restart = async (config: Partial<Config>): Promise<void> => {
    await app.restart(config);
    await until(
      () =>
        app.call('POST', '/api/knowledge/search', { token: owner.token, body: { query: 'Alton' } }),
      ({ body }) => body.results.length > 0,
    );
  };
  const start = (more: object) =>
    app.call('POST', '/api/research/start', {
      token: owner.token,
      body: { question: QUESTION, depth: 'quick', ...more },
    });

  it('leaves no entry of a report whose job was deleted or cancelled meanwhile', async () => {
    await restart({});
    const entries = async () => {
      const { body } = await app.call('GET', '/api/knowledge?sourceType=research&limit=200', owner);
      return body.entries.map(({ sourceId }: { sourceId: string }) => sourceId);
    };
    const before = await entries();
    const kept: string[] = [];
    for (let n = 0; n < 20; n++) {
      const { id } = (await start({ sources: ['knowledge'] })).body;
      const path = `/api/research/jobs/${id}`;
      await until(
        () => app.call('GET', path, owner),
        ({ body }) => body.status === 'writing' || body.status === 'completed',
      );
      await pause(n * 2);
      if (n % 2 === 0) await app.call('DELETE', path, owner);
      else await app.call('POST', `${path}/cancel`, owner);
      const { body } = await app.call('GET', path, owner);
      if (body.knowledgeId) kept.push(id);
    }
    await until(
      () => app.call('GET', '/api/operations?status=running', owner),
      ({ body }) => body.operations.length === 0,
    );
    const after = await entries();
    expect(after.filter((id: string) => !before.includes(id)).sort()).to.equal(kept.sort());
  });
});
