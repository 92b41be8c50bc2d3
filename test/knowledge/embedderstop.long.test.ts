import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it } = lab;

const NOTES = 8;

describe('the daemon, stopped while the built-in embedder starts', () => {
  it('ends, and goes on with the vectors after its next start', async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-embedder-'));
    const env = { ADJUTANT_BUILTIN_EMBEDDER: 'true' };
    let daemon = await startDaemon({ home, env });
    try {
      const owner = await registerOwner(daemon.url);
      for (let n = 0; n < NOTES; n++) {
        await owner.knowledge.create({ body: { text: `The number of this note is ${n}.` } });
      }
      await until(
        () => readdir(join(home, 'scratch')).catch(() => []),
        (names) => names.some((name) => name.startsWith('embedder-')),
      );
      const search = owner.knowledge.search({ body: { query: 'a number', mode: 'semantic' } });
      const refused = search.then(
        () => false,
        () => true,
      );
      const { code } = await daemon.end('SIGTERM');
      expect([code, await refused]).to.equal([0, true]);
      daemon = await startDaemon({ home, env });
      const { embedding } = await until(
        () => owner.with({ url: daemon.url }).knowledge.stats(),
        ({ embedding: { pending } }) => pending === 0,
        60_000,
      );
      expect(embedding.embedded).to.equal(NOTES);
    } finally {
      await daemon.end('SIGKILL');
      await rm(home, { recursive: true, force: true });
    }
  });
});
