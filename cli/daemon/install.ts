import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { CliFault, failed } from '../exit.js';
import { configFolder, DAEMON_ENV, nodePath } from './environment.js';
import { getDaemonLogPath, openLog } from './log.js';
import { serveArguments } from './start.js';

/** Values of the service file. All paths are absolute. */
export interface Service {
  home: string;
  /** Flags of `serve` besides the home. */
  flags: string[];
}

const LAUNCHD_LABEL = 'local.adjutant';

/** Settings of the service besides its address, one `NAME=value` per line. The file is optional. */
export const serviceSettingsFile = (home: string): string => join(home, 'environment');

const buildServiceCommand = ({ home, flags }: Service): string[] => [
  nodePath(),
  ...serveArguments(home),
  ...flags,
];

/**
 * systemd restarts a daemon that does not notify it for a minute. A start may migrate a large
 * database. All processes of the service may notify, because systemd-notify does it for the
 * daemon.
 */
const NOTIFYING = `Type=notify
NotifyAccess=all
WatchdogSec=60
TimeoutStartSec=1h`;

/**
 * A systemd user unit (systemd.service(5)). It does not filter system calls or namespaces and has
 * no NoNewPrivileges, which such filters imply in a user unit: bubblewrap creates namespaces for
 * the tools, and a setuid bubblewrap could no longer start.
 */
export const systemdUnit = (service: Service): string => `[Unit]
Description=Adjutant
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
${NOTIFYING}
ExecStart=${buildServiceCommand(service).map(quoted).join(' ')}
${Object.entries(DAEMON_ENV)
  .map((pair) => `Environment=${pair.join('=')}`)
  .join('\n')}
EnvironmentFile=-${escaped(serviceSettingsFile(service.home))}
StandardOutput=append:${escaped(getDaemonLogPath(service.home))}
StandardError=append:${escaped(getDaemonLogPath(service.home))}
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
${buildServiceCommand(service)
  .map((word) => `    <string>${xml(word)}</string>`)
  .join('\n')}
  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>40</integer>
  <key>Umask</key><integer>63</integer>
  <key>StandardOutPath</key><string>${xml(getDaemonLogPath(service.home))}</string>
  <key>StandardErrorPath</key><string>${xml(getDaemonLogPath(service.home))}</string>
</dict>
</plist>
`;

/** In a unit file, `%` begins a specifier. */
const escaped = (word: string): string => word.replaceAll('%', '%%');

/** In the command line of a unit, `$` begins a variable, too. */
const quoted = (word: string): string =>
  `"${escaped(word).replaceAll('$', '$$$$').replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const UNIT = 'adjutant.service';
/** Stopping a service waits for running work; systemd allows 40 s. */
const ANSWER_MS = 60_000;
const isMac = process.platform === 'darwin';

export const serviceFile = (): string =>
  isMac
    ? join(homedir(), 'Library/LaunchAgents', `${LAUNCHD_LABEL}.plist`)
    : join(configFolder(), 'systemd/user', UNIT);

export const isInstalled = (): boolean => existsSync(serviceFile());

/** The home and address of the installed service. */
export interface Installed {
  home: string;
  url: string;
}

/** Values of the service, so that no unit file must be parsed. */
const noteFile = (): string => join(configFolder(), 'adjutant/service.json');

/** Returns null if there is no service, or its values are unknown. */
export const installed = (): Installed | null => {
  const note = isInstalled() ? readTextOrNull(noteFile()) : null;
  if (note === null) return null;
  try {
    const { home, url }: Partial<Installed> = JSON.parse(note);
    return home === undefined || url === undefined ? null : { home, url };
  } catch {
    return null;
  }
};

const readTextOrNull = (path: string): string | null =>
  existsSync(path) ? readFileSync(path, 'utf8') : null;

/** Checks that the system runs services for this user. Changes nothing. */
export const checkManager = (): void => {
  try {
    if (isMac) ask('launchctl', ['print', domain()]);
    else systemctl('show-environment');
  } catch (error) {
    if (!(error instanceof CliFault)) throw error;
    throw failed(
      `Cannot install a service: ${error.message}`,
      'Nothing was changed. Without a service: adjutant up',
    );
  }
};

/** Contents of the service files; null if absent. */
export interface ServiceFiles {
  unit: string | null;
  note: string | null;
}

export const serviceFiles = (): ServiceFiles => ({
  unit: readTextOrNull(serviceFile()),
  note: readTextOrNull(noteFile()),
});

/** Undoes an installation: restores the earlier files and starts that service. */
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
    else {
      writeFileSync(`${path}.new`, text, { mode });
      renameSync(`${path}.new`, path);
    }
  }
};

/** Writes the service and starts it, now and at each login. Throws if the system refuses. */
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
 * Stops and removes the service; its data is kept. If the system runs no services, the files are
 * removed anyway, and the error of the system is returned.
 */
export const uninstall = (): CliFault | null => {
  const refusal = catchCliFault(() => (isMac ? unload() : systemctl('disable', '--now', UNIT)));
  if (refusal && catchCliFault(checkManager) === null && !isMac) throw refusal;
  // The link that `systemctl enable` creates.
  if (!isMac) {
    rmSync(join(dirname(serviceFile()), 'default.target.wants', UNIT), { force: true });
  }
  write({ unit: null, note: null });
  return refusal ?? (isMac ? null : catchCliFault(() => systemctl('daemon-reload')));
};

const catchCliFault = (work: () => void): CliFault | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof CliFault) return error;
    throw error;
  }
};

/** Words for launchctl. launchd does not restart a daemon that ended with 0. */
const LAUNCHD = {
  start: ['kickstart'],
  stop: ['kill', 'SIGTERM'],
  restart: ['kickstart', '-k'],
};

/** Starts or restarts the installed service. Returns the error of the system. */
export const controlService = (verb: 'start' | 'restart'): CliFault | null =>
  catchCliFault(() => switchService(verb));

/**
 * Like `controlService`, but throws. systemctl would wait until the daemon is ready, and report
 * less than its log, so the caller waits instead.
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
      `The service file is ${serviceFile()}.        Without a service: adjutant up`,
    );
  }
};
