import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { queueDeliveries } from './queue.js';

export const lab = Lab.script();
const { describe, it } = lab;

const QUEUED = 10_000;

describe('recovery', () => {
  it(`is ready soon after a kill with ${QUEUED} deliveries queued, and works them off`, {
    timeout: 120_000,
  }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-recovery-'));
    await (await startDaemon({ home })).end('SIGKILL');
    queueDeliveries(home, QUEUED);
    const daemon = await startDaemon({ home });
    expect((await fetch(`${daemon.url}/health/ready`)).status).to.equal(200);
    // The promise is 1 s on an idle machine; this one may be busy with other tests.
    expect(daemon.readyMs).to.be.below(5_000);
    const db = new Database(join(home, 'adjutant.db'), { readonly: true });
    const left = db.prepare('SELECT count(*) FROM executions WHERE run_at IS NOT NULL').pluck();
    await until(
      async () => Number(left.get()),
      (count) => count < QUEUED - 200,
      20_000,
    );
    db.close();
    expect((await daemon.end('SIGKILL')).signal).to.equal('SIGKILL');
    await rm(home, { recursive: true });
  });
});
