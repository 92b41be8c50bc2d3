import { join } from 'node:path';
import { logOf } from './log.js';
import { EXECUTABLE } from './start.js';

/** Values of the service's file; all paths are absolute. */
export interface Service {
  home: string;
  /** Words for `serve` beside the home. */
  flags: string[];
}

export const LAUNCHD_LABEL = 'local.adjutant';

/** Settings of the service beyond its address, `NAME=value` a line; it need not be there. */
const settingsOf = (home: string): string => join(home, 'environment');

const wordsOf = ({ home, flags }: Service): string[] => [
  ...[process.execPath, EXECUTABLE, 'serve', '--home', home],
  ...flags,
];

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
Type=exec
ExecStart=${wordsOf(service).map(quoted).join(' ')}
EnvironmentFile=-${escaped(settingsOf(service.home))}
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
