import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { CliFault, failed } from '../exit.js';
import { configFolder } from './environment.js';
import { openLog } from './log.js';
import { LAUNCHD_LABEL, launchdPlist, type Service, systemdUnit } from './unit.js';

const UNIT = 'adjutant.service';
/** Stopping a service waits for what it runs; systemd gives it 40 s. */
const ANSWER_MS = 60_000;
const isMac = process.platform === 'darwin';

/** File of this user's service. */
export const serviceFile = (): string =>
  isMac
    ? join(homedir(), 'Library/LaunchAgents', `${LAUNCHD_LABEL}.plist`)
    : join(configFolder(), 'systemd/user', UNIT);

export const isInstalled = (): boolean => existsSync(serviceFile());

/** The service that there is: whose home it serves, and where it answers. */
export interface Installed {
  home: string;
  url: string;
}

/** Note of the service's values, which needs no parser of units. */
const noteFile = (): string => join(configFolder(), 'adjutant/service.json');

/** The service of this user; null: there is none, or nothing says what it was made for. */
export const installed = (): Installed | null => {
  const note = isInstalled() ? textOf(noteFile()) : null;
  if (note === null) return null;
  try {
    const { home, url }: Partial<Installed> = JSON.parse(note);
    return home === undefined || url === undefined ? null : { home, url };
  } catch {
    return null;
  }
};

const textOf = (path: string): string | null =>
  existsSync(path) ? readFileSync(path, 'utf8') : null;

/** Failed: nobody here runs services for this user. Nothing is changed by asking. */
export const checkManager = (): void => {
  try {
    if (isMac) ask('launchctl', ['print', domain()]);
    else systemctl('show-environment');
  } catch (error) {
    if (!(error instanceof CliFault)) throw error;
    throw failed(
      `No service can be made here: ${error.message}`,
      'Nothing was changed. Without a service: adjutant up',
    );
  }
};

/** The files of a service, as they are; null: there is none. */
export interface ServiceFiles {
  unit: string | null;
  note: string | null;
}

export const serviceFiles = (): ServiceFiles => ({
  unit: textOf(serviceFile()),
  note: textOf(noteFile()),
});

/** Undoes an installation: what there was before is there again, and starts. */
export const restoreService = ({ unit, note }: ServiceFiles): void => {
  if (unit === null) return void uninstall();
  write({ unit, note });
  if (isMac) ask('launchctl', ['bootstrap', domain(), serviceFile()]);
  else for (const words of [['daemon-reload'], ['restart', UNIT]]) systemctl(...words);
};

const write = ({ unit, note }: ServiceFiles): void => {
  const files = [
    { path: serviceFile(), text: unit, mode: 0o644 },
    { path: noteFile(), text: note, mode: 0o600 },
  ];
  for (const { path, text, mode } of files) {
    makePrivateFolder(dirname(path));
    if (text === null) rmSync(path, { force: true });
    else writeFileSync(path, text, { mode });
  }
};

/** Writes the service anew and starts it, now and with every login. Failed: the system refuses. */
export const install = (service: Service, url: string): void => {
  const path = serviceFile();
  closeSync(openLog(service.home).fd);
  if (isMac && existsSync(path)) unload();
  const unit = isMac ? launchdPlist(service) : systemdUnit(service);
  write({ unit, note: `${JSON.stringify({ home: service.home, url })}\n` });
  if (isMac) ask('launchctl', ['bootstrap', domain(), path]);
  else
    for (const words of [['daemon-reload'], ['enable', UNIT], ['restart', UNIT]])
      systemctl(...words);
};

/**
 * Stops the service and forgets it; what it kept stays. Where nobody runs services its files are
 * taken away all the same, and what the system said comes back.
 */
export const uninstall = (): CliFault | null => {
  const refusal = refusalOf(() => (isMac ? unload() : systemctl('disable', '--now', UNIT)));
  if (refusal && refusalOf(checkManager) === null && !isMac) throw refusal;
  // As `systemctl enable` makes it.
  if (!isMac) {
    rmSync(join(dirname(serviceFile()), 'default.target.wants', UNIT), { force: true });
  }
  write({ unit: null, note: null });
  return refusal ?? (isMac ? null : refusalOf(() => systemctl('daemon-reload')));
};

const refusalOf = (work: () => void): CliFault | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof CliFault) return error;
    throw error;
  }
};

/** Words of launchctl; launchd does not start again a daemon that ended well, whatever ended it. */
const LAUNCHD = {
  start: ['kickstart'],
  stop: ['kill', 'SIGTERM'],
  restart: ['kickstart', '-k'],
};

/** Has the system start, stop or restart the installed service; what it says where it refuses. */
export const tryTo = (verb: 'start' | 'restart'): CliFault | null =>
  refusalOf(() => switchService(verb));

/** The same. Failed: it refuses. */
export const switchService = (verb: 'start' | 'stop' | 'restart'): void => {
  if (isMac) ask('launchctl', [...LAUNCHD[verb], `${domain()}/${LAUNCHD_LABEL}`]);
  else systemctl(verb, UNIT);
};

const domain = (): string => `gui/${process.getuid?.()}`;
const unload = (): void => ask('launchctl', ['bootout', `${domain()}/${LAUNCHD_LABEL}`]);
const systemctl = (...words: string[]): void => ask('systemctl', ['--user', ...words]);

const ask = (command: string, words: string[]): void => {
  try {
    execFileSync(command, words, {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      timeout: ANSWER_MS,
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const said = 'stderr' in error && String(error.stderr).trim();
    throw failed(
      `"${command} ${words.join(' ')}" failed: ${said || error.message}.`,
      `The service is in ${serviceFile()}.        Without one: adjutant up`,
    );
  }
};
