import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { isAlive, type Machine, newMachine, printed, recordedPid } from '../cli/daemon/machine.js';
import { addHook, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { fill, mountTmpfs, whyNoMount } from './mount.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const SECRET = 'a secret of the log';
const noMount = whyNoMount();

describe('the log of a daemon', () => {
  let machine: Machine;
  beforeEach(async () => {
    machine = await newMachine();
  });
  afterEach(() => machine.clear());

  const deliver = async (): Promise<number> => {
    const body = JSON.stringify({ text: 'x'.repeat(20_000) });
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const to = `${machine.url}/api/webhooks/log`;
    return (await fetch(to, { method: 'POST', headers, body })).status;
  };
  const isLive = async (): Promise<boolean> => (await fetch(`${machine.url}/health/live`)).ok;

  it(`ends none whose disk is full, and goes on where there is room again${noMount === null ? '' : ` (skipped: ${noMount})`}`, {
    skip: noMount !== null,
  }, async () => {
    mkdirSync(machine.home, { mode: 0o700 });
    const unmount = mountTmpfs(machine.home, 24);
    try {
      const started = await machine.run(['up']);
      expect(started.code, started.stderr).to.equal(0);
      const pid = recordedPid(machine.home);
      const owner = await registerOwner(machine.url);
      const action = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
      await addHook(owner, { name: 'log', path: 'log', secret: SECRET, ...action });
      const empty = await fill(machine.home);
      await until(deliver, (status) => status === 503);
      for (let nth = 0; nth < 20; nth++) expect(await deliver()).to.equal(503);
      expect([isAlive(pid), await isLive()]).to.equal([true, true]);
      await empty();
      await until(deliver, (status) => status === 202);
      expect((await machine.run(['down'])).code).to.equal(0);
      const log = readFileSync(join(machine.home, 'logs/daemon.log'), 'utf8');
      expect(log).to.contain('"msg":"draining"');
    } finally {
      unmount();
    }
  });

  it('ends none whose stdout and stderr nobody reads any more', async () => {
    const child = machine.start(['serve'], { ADJUTANT_LOG_LEVEL: 'debug' });
    await printed(child, 'Ready in');
    const exit = once(child, 'exit');
    child.stdout?.destroy();
    child.stderr?.destroy();
    await registerOwner(machine.url);
    expect(await isLive()).to.be.true();
    child.kill('SIGTERM');
    expect(await exit).to.equal([0, null]);
  });
});
