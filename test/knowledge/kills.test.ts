import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KILLS = 4;
const TEXTS = 6;

/** A text of some 20 chunks with a word of its own. */
const textOf = (word: string): string =>
  Array.from(
    { length: 20 },
    (_, n) => `## Part ${n}\n\n${`${word} stands here. `.repeat(80)}`,
  ).join('\n\n');

describe('indexing', () => {
  let home: string;
  let daemon: Daemon;
  let token: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    daemon = await startDaemon({ home });
    const client = createClient({ url: daemon.url });
    ({ token } = await client.auth.register({ body: { username: 'ada', password: PASSWORD } }));
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true, force: true });
  });

  const client = () => createClient({ url: daemon.url, token });

  it('loses nothing and does nothing twice when it is killed', { timeout: 120_000 }, async () => {
    const accepted: { word: string; operation: string }[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const { knowledge } = client();
      const before = accepted.length;
      const sent = Array.from({ length: TEXTS }, async (_, n) => {
        const word = `canary${kill}x${n}`;
        const { id } = await knowledge.index({ body: { text: textOf(word), title: word } });
        accepted.push({ word, operation: id });
      });
      // Some were accepted, and what becomes of them is at another point each time.
      await until(
        async () => accepted.length,
        (count) => count - before > kill,
      );
      await daemon.end('SIGKILL');
      await Promise.allSettled(sent);
      daemon = await startDaemon({ home });
    }
    const { operations, knowledge } = client();
    for (const { operation } of accepted) {
      const ended = await until(
        () => operations.get({ id: operation }),
        ({ status }) => status !== 'queued' && status !== 'running',
        60_000,
      );
      expect(ended.status).to.equal('completed');
    }
    for (const { word } of accepted) {
      const { results } = await knowledge.search({ body: { query: word, limit: 50 } });
      const { entries } = await knowledge.list({ query: { q: word } });
      expect([entries.length, results.length]).to.equal([1, entries[0]?.chunks]);
    }
    const { chunks } = await knowledge.stats();
    const index = new Database(join(home, 'search.db'), { readonly: true });
    expect(index.prepare('SELECT count(*) FROM chunks').pluck().get()).to.equal(chunks);
    index.close();
  });
});
