import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { failed } from '../exit.js';
import { configFolder } from './environment.js';
import { openLog } from './log.js';
import { LABEL, launchdPlist, type Service, systemdUnit } from './unit.js';

const UNIT = 'adjutant.service';
const isMac = process.platform === 'darwin';

/** Where the service of this user is written down. */
export const serviceFile = (): string =>
  isMac
    ? join(homedir(), 'Library/LaunchAgents', `${LABEL}.plist`)
    : join(configFolder(), 'systemd/user', UNIT);

export const isInstalled = (): boolean => existsSync(serviceFile());

/** The service that there is: whose home it serves, and where it answers. */
export interface Installed {
  home: string;
  url: string;
}

/** What the service was made for, in words that need no reading of units. */
const noteFile = (): string => join(configFolder(), 'adjutant/service.json');

/** The service of this user; null: there is none, or nothing says what it was made for. */
export const installed = (): Installed | null => {
  if (!isInstalled() || !existsSync(noteFile())) return null;
  const { home, url }: Partial<Installed> = JSON.parse(readFileSync(noteFile(), 'utf8'));
  return home === undefined || url === undefined ? null : { home, url };
};

/** Writes the service anew and starts it, now and with every login. Failed: the system refuses. */
export const install = (service: Service, url: string): void => {
  const path = serviceFile();
  closeSync(openLog(service.home).fd);
  mkdirSync(dirname(path), { recursive: true });
  if (isMac && existsSync(path)) unload();
  writeFileSync(path, isMac ? launchdPlist(service) : systemdUnit(service), { mode: 0o644 });
  mkdirSync(dirname(noteFile()), { recursive: true, mode: 0o700 });
  writeFileSync(noteFile(), `${JSON.stringify({ home: service.home, url })}\n`, { mode: 0o600 });
  if (isMac) ask('launchctl', ['bootstrap', domain(), path]);
  else
    for (const words of [['daemon-reload'], ['enable', UNIT], ['restart', UNIT]])
      systemctl(...words);
};

/** Stops the service and forgets it; what it kept stays. */
export const uninstall = (): void => {
  if (isMac) unload();
  else systemctl('disable', '--now', UNIT);
  rmSync(serviceFile());
  rmSync(noteFile(), { force: true });
  if (!isMac) systemctl('daemon-reload');
};

/** For launchd a daemon that ended well is not started again, whatever ended it. */
const LAUNCHD = {
  start: ['kickstart'],
  stop: ['kill', 'SIGTERM'],
  restart: ['kickstart', '-k'],
};

/** Has the system start, stop or restart the installed service. Failed: it refuses. */
export const turn = (verb: 'start' | 'stop' | 'restart'): void => {
  if (isMac) ask('launchctl', [...LAUNCHD[verb], `${domain()}/${LABEL}`]);
  else systemctl(verb, UNIT);
};

const domain = (): string => `gui/${process.getuid?.()}`;
const unload = (): void => ask('launchctl', ['bootout', `${domain()}/${LABEL}`]);
const systemctl = (...words: string[]): void => ask('systemctl', ['--user', ...words]);

const ask = (command: string, words: string[]): void => {
  try {
    execFileSync(command, words, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const said = 'stderr' in error && String(error.stderr).trim();
    throw failed(
      `"${command} ${words.join(' ')}" failed: ${said || error.message}.`,
      `The service is in ${serviceFile()}.        Without one: adjutant up`,
    );
  }
};
