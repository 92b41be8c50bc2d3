import { type TunnelProvider, type TunnelRun, tunnelOrigin } from './tunnel.js';

/**
 * The name under which the host keys of the settings are looked up, whatever the server's name is.
 */
export const HOST_ALIAS = 'adjutant-tunnel';

const UP = /remote forward success|^Allocated port \d+/;
const UNKNOWN_HOST = /^Host key verification failed/;
const LOOK_AT_KEYS =
  'Look at its keys by adjutant tunnel host-keys <target>, and take those that you trust by ' +
  'adjutant tunnel setup.';
const CHATTER = /^(debug\d: |OpenSSH_|Authenticated to )/;

/**
 * A reverse forward by OpenSSH to the owner's own server. With -v, ssh says when the forward is up.
 * It asks for no input, shares no other session's connection, accepts no unknown host key, and ends
 * if the forward is refused or the server is silent for 30 s. It reports nothing about the clients.
 */
export const ssh: TunnelProvider = {
  program: 'ssh',
  version: ['-V'],
  addressHeader: null,
  args: (run) => [
    ...['-v', '-N', '-T', ...options(run)],
    ...['-R', `127.0.0.1:${run.settings.remotePort}:${new URL(tunnelOrigin(run)).host}`],
    ...(run.settings.sshPort === undefined ? [] : ['-p', String(run.settings.sshPort)]),
    ...identity(run),
    ...['--', run.settings.target ?? ''],
  ],
  env: () => ({}),
  hear: (line) => ({
    ...(UP.test(line) && { isUp: true }),
    line: CHATTER.test(line) ? null : UNKNOWN_HOST.test(line) ? `${line} ${LOOK_AT_KEYS}` : line,
  }),
};

const options = ({ knownHosts }: TunnelRun): string[] =>
  [
    'BatchMode=yes',
    'ExitOnForwardFailure=yes',
    'StrictHostKeyChecking=yes',
    'ConnectTimeout=15',
    'ServerAliveInterval=10',
    'ServerAliveCountMax=3',
    'ControlMaster=no',
    'ControlPath=none',
    'ClearAllForwardings=no',
    'ForwardAgent=no',
    'ForwardX11=no',
    'PermitLocalCommand=no',
    'RemoteCommand=none',
    ...(knownHosts === null
      ? []
      : [
          `HostKeyAlias=${HOST_ALIAS}`,
          `UserKnownHostsFile=${quoted(knownHosts)}`,
          'GlobalKnownHostsFile=/dev/null',
        ]),
  ].flatMap((option) => ['-o', option]);

const identity = ({ settings: { identityFile } }: TunnelRun): string[] =>
  identityFile === undefined ? [] : ['-o', 'IdentitiesOnly=yes', '-i', identityFile];

/** Quotes a path, since ssh splits at blanks and expands what follows a percent sign. */
const quoted = (path: string): string => `"${path.replaceAll('%', '%%')}"`;
