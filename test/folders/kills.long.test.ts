import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KILLS = 4;
const FILES = 150;

describe('the scan of a folder', () => {
  let home: string;
  let root: string;
  let daemon: Daemon;
  let token: string;
  const start = () => startDaemon({ home, env: { ADJUTANT_KNOWLEDGE_ROOTS: root } });
  const client = () => createClient({ url: daemon.url, token });
  before(async () => {
    [home = '', root = ''] = await Promise.all(
      ['test', 'root'].map((name) => mkdtemp(join(tmpdir(), `adjutant-${name}-`))),
    );
    await mkdir(join(root, 'deep'));
    for (let n = 0; n < FILES; n++) {
      const path = join(root, n % 2 === 0 ? 'deep' : '', `${n}.md`);
      await writeFile(path, `Canary${n} and another canary`);
    }
    daemon = await start();
    const account = { username: 'ada', password: PASSWORD };
    ({ token } = await client().auth.register({ body: account }));
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await Promise.all([home, root].map((path) => rm(path, { recursive: true, force: true })));
  });

  it('reads each file once when it is killed', async () => {
    const { id } = await client().knowledge.index({ body: { path: root } });
    const folder = async () => {
      const [only] = (await client().folders.list()).folders;
      return client().folders.get({ id: only?.id ?? '' });
    };
    for (let kill = 1; kill <= KILLS; kill++) {
      const least = (FILES * kill) / (KILLS + 2);
      await until(folder, ({ files }) => files.ready + files.pending >= least);
      await daemon.end('SIGKILL');
      daemon = await start();
    }
    const ended = await until(
      () => client().operations.get({ id }),
      ({ status }) => status !== 'queued' && status !== 'running',
      60_000,
    );
    expect(ended.status).to.equal('completed');
    expect((await folder()).files).to.equal({ ready: FILES, pending: 0, failed: 0, skipped: 0 });
    const { total, chunks } = await client().knowledge.stats();
    expect({ total, chunks }).to.equal({ total: FILES, chunks: FILES });
    for (const n of [0, 1, FILES / 2, FILES - 1]) {
      const body = { query: `"canary${n}"`, limit: 50 };
      const { results } = await client().knowledge.search({ body });
      expect(results.map(({ title }) => title)).to.equal([`${n}.md`]);
    }
  });
});
