import { type TunnelProvider, type TunnelRun, tunnelOrigin } from './tunnel.js';

/** The host keys of the settings are stored under this name, whatever the name of the server. */
export const HOST_ALIAS = 'adjutant-tunnel';

const UP = /remote forward success|^Allocated port \d+/;
const UNKNOWN_HOST = /^Host key verification failed/;
const HOST_KEY_HINT =
  'Show the keys of the server with adjutant tunnel host-keys <target>, and accept those that you ' +
  'trust with adjutant tunnel setup.';
const CHATTER = /^(debug\d: |OpenSSH_|Authenticated to )/;

/**
 * With -v, ssh reports when the forward is up. It asks for no input, shares no connection of another
 * session, accepts no unknown host key, and ends if the forward is refused or the server is silent for
 * 30 s. It reports nothing about the clients.
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
    line: CHATTER.test(line) ? null : UNKNOWN_HOST.test(line) ? `${line} ${HOST_KEY_HINT}` : line,
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

/** ssh splits at blanks and expands percent signs. */
const quoted = (path: string): string => `"${path.replaceAll('%', '%%')}"`;
