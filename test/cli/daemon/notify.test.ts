import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { takeNotifySettings } from '../../../src/config.js';
import { openServiceManager } from '../../../src/kernel/sdnotify.js';
import { startDaemon } from '../../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** Prints the states that arrive at a socket, one on a line; a barrier is acknowledged by its end. */
const RECEIVER = `
import os, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print('bound')
while True:
    data, descriptors, *rest = socket.recv_fds(receiver, 4096, 4)
    for descriptor in descriptors: os.close(descriptor)
    if not data.startswith(b'BARRIER'): print(data.decode().strip())
`;

describe('a daemon under systemd', { skip: process.platform !== 'linux' }, () => {
  let folder: string;
  let receiver: ChildProcess;
  let lines: AsyncIterator<string>;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-notify-'));
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    const child = spawn('python3', ['-uc', RECEIVER, join(folder, 'notify')], { stdio });
    receiver = child;
    lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).to.equal('bound');
  });
  afterEach(async () => {
    const ended = once(receiver, 'exit');
    receiver.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });

  it('reports that it is ready, that its event loop runs, and that it stops', async () => {
    const next = async () => (await lines.next()).value;
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
      openServiceManager(settings, resolve).ready();
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
