import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { CliFault, failed } from '../exit.js';
import { configFolder, DAEMON_ENV, nodePath } from './environment.js';
import { logOf, openLog } from './log.js';
import { wordsToServe } from './start.js';

/** Values of the service's file; all paths are absolute. */
export interface Service {
  home: string;
  /** Words for `serve` beside the home. */
  flags: string[];
}

const LAUNCHD_LABEL = 'local.adjutant';

/** Settings of the service beyond its address, `NAME=value` a line; it need not be there. */
export const serviceSettingsFile = (home: string): string => join(home, 'environment');

const wordsOf = ({ home, flags }: Service): string[] => [
  nodePath(),
  ...wordsToServe(home),
  ...flags,
];

/**
 * systemd restarts a daemon that has not notified it for a minute. A start may migrate a large
 * database. All processes of the service may notify, since systemd-notify does it for the daemon.
 */
const NOTIFYING = `Type=notify
NotifyAccess=all
WatchdogSec=60
TimeoutStartSec=1h`;

/**
 * A systemd user unit (systemd.service(5)). Ours: none of the settings that filter system calls or
 * namespaces, nor NoNewPrivileges, which they imply in a user unit: bubblewrap makes namespaces for
 * the tools, and where it is setuid it could no longer start.
 */
export const systemdUnit = (service: Service): string => `[Unit]
Description=Adjutant
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
${NOTIFYING}
ExecStart=${wordsOf(service).map(quoted).join(' ')}
${Object.entries(DAEMON_ENV)
  .map((pair) => `Environment=${pair.join('=')}`)
  .join('\n')}
EnvironmentFile=-${escaped(serviceSettingsFile(service.home))}
StandardOutput=append:${escaped(logOf(service.home))}
StandardError=append:${escaped(logOf(service.home))}
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=40
UMask=0077
LimitCORE=0
LimitNOFILE=65536
OOMPolicy=continue

[Install]
WantedBy=default.target
`;

/** The same for launchd (launchd.plist(5)). */
export const launchdPlist = (service: Service): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LAUNCHD_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${wordsOf(service)
  .map((word) => `    <string>${xml(word)}</string>`)
  .join('\n')}
  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>40</integer>
  <key>Umask</key><integer>63</integer>
  <key>StandardOutPath</key><string>${xml(logOf(service.home))}</string>
  <key>StandardErrorPath</key><string>${xml(logOf(service.home))}</string>
</dict>
</plist>
`;

/** Escapes text for a unit file, where `%` begins a specifier. */
const escaped = (word: string): string => word.replaceAll('%', '%%');

/** Escapes a word of a unit's command line, where `$` begins a variable, too. */
const quoted = (word: string): string =>
  `"${escaped(word).replaceAll('$', '$$$$').replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

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

/** Checks that the system runs services for this user, without a change. Failed: it does not. */
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

/** Undoes an installation: restores the files that were there before, and starts that service. */
export const restoreService = ({ unit, note }: ServiceFiles): void => {
  if (unit === null) return void uninstall();
  write({ unit, note });
  if (isMac) ask('launchctl', ['bootstrap', domain(), serviceFile()]);
  else {
    systemctl('daemon-reload');
    switchService('restart');
  }
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
  else {
    for (const words of [['daemon-reload'], ['enable', UNIT]]) systemctl(...words);
    switchService('restart');
  }
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
export const controlService = (verb: 'start' | 'restart'): CliFault | null =>
  refusalOf(() => switchService(verb));

/**
 * Does the same. Failed: the system refuses. systemctl would wait until the daemon is ready, and say
 * less than its log about one that is not: the caller waits instead.
 */
export const switchService = (verb: 'start' | 'stop' | 'restart'): void => {
  if (isMac) ask('launchctl', [...LAUNCHD[verb], `${domain()}/${LAUNCHD_LABEL}`]);
  else {
    if (verb !== 'start') systemctl('stop', UNIT);
    if (verb !== 'stop') systemctl('start', '--no-block', UNIT);
  }
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
    const complaint = 'stderr' in error && String(error.stderr).trim();
    throw failed(
      `"${command} ${words.join(' ')}" failed: ${complaint || error.message}.`,
      `The service is in ${serviceFile()}.        Without one: adjutant up`,
    );
  }
};
