import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../app.js';
import { freePort, isListening } from './port.js';

/** A real OpenSSH server on loopback with one key that may forward one port. */
export interface Sshd {
  port: number;
  target: string;
  identityFile: string;
  hostKey: string;
  /** Where a forward may listen. */
  remotePort: number;
  stop(): Promise<void>;
}

/** Why these tests cannot run here. `null` if they can. */
export const sshdMissing = (): string | null => {
  if (!existsSync('/usr/sbin/sshd')) return 'openssh-server is not installed';
  return process.getuid?.() === 0 ? null : 'sshd wants root to start sessions';
};

const run = promisify(execFile);

export const startSshd = async (): Promise<Sshd> => {
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  // Others can write below /tmp, which sshd rejects for keys even without StrictModes.
  const folder = await mkdtemp('/run/adjutant-sshd-');
  const [port, remotePort] = [await freePort(), await freePort()];
  const at = (name: string): string => join(folder, name);
  for (const name of ['host', 'client']) {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', at(name)]);
  }
  const options = [
    ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${at('host')}`],
    ...[`PidFile ${at('pid')}`, `AuthorizedKeysFile ${at('client.pub')}`, 'StrictModes no'],
    ...['UsePAM no', 'PasswordAuthentication no', 'KbdInteractiveAuthentication no'],
    ...['PermitRootLogin yes', 'AllowTcpForwarding remote', 'ForceCommand /bin/false'],
    `PermitListen 127.0.0.1:${remotePort}`,
  ];
  await writeFile(at('config'), `${options.join('\n')}\n`);
  const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', at('config')], { stdio: 'ignore' });
  await until(() => isListening(port), Boolean);
  return {
    ...{ port, remotePort, target: `${userInfo().username}@127.0.0.1` },
    identityFile: at('client'),
    hostKey: (await readFile(at('host.pub'), 'utf8')).trim(),
    stop: async () => {
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
