import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { residentMb } from './bench/memory.js';
import { until } from './harness/app.js';
import { startDaemon } from './harness/daemon.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** What start time and memory are spared, until somebody asks for what needs it. */
const LATE = ['hapi-swagger', 'prom-client', 'qrcode', 'undici'];

describe('serve', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-main-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('is ready before it has loaded what is rarely used', async () => {
    const entry = [fileURLToPath(new URL('./harness/loaded.js', import.meta.url))];
    const daemon = await startDaemon({ home, entry });
    const { stdout } = await daemon.end('SIGTERM');
    const loaded = /^loaded (.+)$/m.exec(stdout)?.[1]?.split(' ') ?? [];
    expect(loaded).to.include('@hapi/hapi');
    expect(loaded.filter((name) => LATE.includes(name))).to.equal([]);
  });

  it('gives back, once it is idle, what loading has taken', {
    skip: platform !== 'linux',
  }, async () => {
    const daemon = await startDaemon({ home });
    const atReady = await residentMb(daemon.pid);
    const idle = await until(
      () => residentMb(daemon.pid),
      (mb) => mb < atReady - 15,
    );
    expect(idle).to.be.above(0);
    await daemon.end('SIGTERM');
  });
});
