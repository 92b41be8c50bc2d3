import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the reader, killed', () => {
  it('reads what it was reading, once it is back, and keeps it once', {
    timeout: 60_000,
  }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-reader-'));
    let isSlow = true;
    const pages = await listen((_, response) => {
      response.setHeader('content-type', 'text/html');
      if (isSlow) response.write('<p>he');
      else response.end('<p>here');
    });
    const env = { ADJUTANT_EGRESS_ALLOW: pages.entry };
    let daemon = await startDaemon({ home, env });
    try {
      const owner = await registerOwner(daemon.url);
      const begun = await owner.reader.read({ body: { url: `${pages.origin}/`, wait: 0 } });
      await until(
        async () => pages.got.length,
        (count) => count === 1,
      );
      await daemon.end('SIGKILL');
      isSlow = false;
      daemon = await startDaemon({ home, env });
      const { reader } = owner.with({ url: daemon.url });
      const task = await until(
        () => reader.get({ id: begun.id }),
        ({ status }) => status !== 'running' && status !== 'queued',
        30_000,
      );
      expect([task.status, task.content, pages.got.length]).to.equal(['completed', 'here', 2]);
      expect((await reader.list()).tasks).to.have.length(1);
    } finally {
      await daemon.end('SIGKILL');
      await pages.close();
      await rm(home, { recursive: true, force: true });
    }
  });
});
