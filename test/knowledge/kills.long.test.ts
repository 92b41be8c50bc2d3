import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** The moments of the kills: texts that were accepted, and the milliseconds after that. */
const KILLS = [
  ...[1, 2, 3, 4, 5].map((accepted) => ({ accepted, afterMs: 0 })),
  ...[30, 80, 150, 300, 500].map((afterMs) => ({ accepted: 2, afterMs })),
];
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

  it('loses nothing and does nothing twice when it is killed', async () => {
    const accepted: { word: string; operation: string }[] = [];
    for (const [kill, { accepted: least, afterMs }] of KILLS.entries()) {
      const { knowledge } = client();
      const before = accepted.length;
      const sent = Array.from({ length: TEXTS }, async (_, n) => {
        const word = `canary${kill}x${n}`;
        const { id } = await knowledge.index({ body: { text: textOf(word), title: word } });
        accepted.push({ word, operation: id });
      });
      // Those that the kill cuts off are rejected at once.
      const settled = Promise.allSettled(sent);
      await until(
        async () => accepted.length,
        (count) => count - before >= least,
      );
      await pause(afterMs);
      await daemon.end('SIGKILL');
      await settled;
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
