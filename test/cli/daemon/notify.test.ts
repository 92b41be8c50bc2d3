import { on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { DgramSocket } from 'node-unix-socket';
import { takeNotifySettings } from '../../../src/config.js';
import { openServiceManager } from '../../../src/kernel/sdnotify.js';
import { startDaemon } from '../../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('a daemon under systemd', { skip: process.platform !== 'linux' }, () => {
  let folder: string;
  let socket: DgramSocket;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-notify-'));
    socket = new DgramSocket();
    socket.bind(join(folder, 'notify'));
  });
  afterEach(() => {
    socket.close();
    rmSync(folder, { recursive: true });
  });

  /** The states that arrive, in their order. */
  async function* states(): AsyncGenerator<string, void, undefined> {
    for await (const [data] of on(socket, 'data')) yield String(data);
  }

  it('reports that it is ready, that its event loop runs, and that it stops', {
    timeout: 60_000,
  }, async () => {
    const received = states();
    const next = async () => (await received.next()).value;
    const first = next();
    const daemon = await startDaemon({
      home: join(folder, 'home'),
      env: { NOTIFY_SOCKET: join(folder, 'notify'), WATCHDOG_USEC: '100000' },
    });
    expect([await first, await next(), await next()]).to.equal([
      'READY=1',
      'WATCHDOG=1',
      'WATCHDOG=1',
    ]);
    const end = daemon.end('SIGTERM');
    let last = await next();
    while (last === 'WATCHDOG=1') last = await next();
    expect(last).to.equal('STOPPING=1');
    const { code, stderr } = await end;
    expect([code, stderr]).to.equal([0, '']);
  });

  it('learns why the service manager was not notified', async () => {
    const settings = { socket: join(folder, 'missing'), watchdogMs: null };
    const error = await new Promise((resolve) => {
      openServiceManager(settings, resolve).then((manager) => manager.ready(), resolve);
    });
    expect(error).to.be.an.error();
  });

  it('takes the settings of systemd away from its child processes', () => {
    const environment = { HOME: '/root', NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '60000000' };
    const taken = { socket: '/run/notify', watchdogMs: 60_000 };
    expect(takeNotifySettings(environment)).to.equal(taken);
    expect(environment).to.equal({ HOME: '/root' });
    const others = { NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '60000000', WATCHDOG_PID: '1' };
    expect(takeNotifySettings(others)).to.equal({ socket: '/run/notify', watchdogMs: null });
    expect(takeNotifySettings({})).to.equal({ socket: null, watchdogMs: null });
  });
});
