import { contracts, type Reply, type TunnelView } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { requestCommand } from '../request.js';
import { oneLine, safe } from '../text.js';
import { reachNotes } from '../tunnel/reach.js';
import {
  settingFields,
  settingFlags,
  settingsFrom,
  setupTunnel,
  showCheck,
  showTunnel,
  tunnelColumns,
} from '../tunnel/setup.js';

const endpoints = await contracts.tunnel();
const PROXIES = ['caddy', 'nginx'] as const;

const get = requestCommand({
  name: 'get',
  endpoint: endpoints.get,
  examples: ['', '--json', '--fields provider,status'],
  show: showTunnel,
});

const set = command({
  name: 'set',
  calls: [endpoints.set],
  examples: [
    '--provider proxy --public-url https://hooks.example.org',
    '--provider ngrok --secret-file - < token.txt',
    '--data @tunnel.json',
  ],
  fields: settingFields,
  takesData: true,
  flags: settingFlags,
  notes: ['Settings that are not passed are removed, except the token of the same provider.'],
  seeAlso: 'adjutant tunnel setup',
  run: async (context, { fields, data, flags: { secretFile } }) => {
    const body = await settingsFrom(context, { fields, data, secretFile });
    const tunnel = await (await context.client()).tunnel.set({ body });
    warnOfPasskeys(context, tunnel.passkeysLost);
    const next = tunnel.on ? 'adjutant tunnel check' : 'adjutant tunnel start';
    context.out.done(`Set up: ${tunnel.provider}. Next: ${next}`, tunnel, tunnelColumns);
  },
});

const done =
  (sentence: string) =>
  ({ out }: Context, tunnel: TunnelView): void =>
    out.done(sentence, tunnel, tunnelColumns);

const start = requestCommand({
  name: 'start',
  endpoint: endpoints.start,
  examples: ['', 'tunnel start && adjutant tunnel check', '--json'],
  show: done('Tunnel started. Check its state: adjutant tunnel get'),
});

const stop = requestCommand({
  name: 'stop',
  endpoint: endpoints.stop,
  examples: ['', '--json', '--yes'],
  show: done('Tunnel stopped.'),
});

const check = requestCommand({
  name: 'check',
  endpoint: endpoints.check,
  examples: ['', '--json', 'tunnel check --quiet || adjutant tunnel get'],
  notes: ['Exit code 1: a stage failed. Test requests are not stored as deliveries.'],
  show: showCheck,
});

const config = requestCommand({
  name: 'config',
  args: '<proxy>',
  values: { proxy: PROXIES },
  endpoint: endpoints.config,
  examples: [
    'caddy > Caddyfile',
    'nginx --public-url https://hooks.example.org',
    'nginx --certificate /etc/ssl/hooks.pem --key /etc/ssl/hooks.key',
  ],
  flags: {
    publicUrl: textFlag(
      '<url>',
      'Public address to write into the printed proxy configuration. Defaults to the public address of the daemon',
    ),
    certificate: textFlag('<file>', 'Path of the TLS certificate on the proxy. Requires --key'),
    key: textFlag('<file>', 'Path of the private key of the certificate on the proxy'),
  },
  notes: [
    'The configuration forwards /ws, sets the forwarding headers and logs no query ' + 'strings.',
  ],
  more: (_, { args, flags }) => {
    const proxy = PROXIES.find((each) => each === args.proxy);
    if (!proxy) throw usageFault(`Unknown proxy "${args.proxy}". Expected caddy or nginx.`);
    return { proxy, ...flags };
  },
  say: ({ out }, { text }) => out.line(text.trimEnd()),
});

const address = requestCommand({
  name: 'address',
  endpoint: endpoints.address,
  examples: ['', '--json', 'curl "$(adjutant tunnel address)/health"'],
  say: ({ out }, found) => {
    if (found.address === null)
      return out.note('Not reachable from outside. Set up an address: adjutant tunnel setup');
    out.line(found.address);
    for (const line of reachNotes(found)) out.warn(line);
  },
});

const forget = command({
  name: 'forget',
  calls: [endpoints.forget],
  examples: ['', '--yes', '--yes --json'],
  notes: ['Other tunnel settings are kept. Set up a new address: adjutant tunnel setup'],
  run: async (context) => {
    const client = await context.client();
    const { address } = await client.tunnel.address();
    const which = address === null ? 'the public address' : safe(address);
    await context.ask.confirm(`Remove ${which}? The tunnel is stopped.`);
    const tunnel = await client.tunnel.forget();
    warnOfPasskeys(context, tunnel.passkeysLost);
    context.out.done('Address removed. The tunnel is stopped.', tunnel, tunnelColumns);
  },
});

const warnOfPasskeys = (
  { out }: Context,
  lost: { name: string; username: string; relyingParty: string }[],
): void => {
  for (const { name, username, relyingParty } of lost) {
    const whose = `Passkey ${oneLine(name)} of ${oneLine(username)}`;
    out.warn(`${whose} belongs to ${relyingParty} and no longer works.`);
  }
};

const programColumns = buildColumns<Reply<'tunnel', 'programs'>['programs'][number]>(
  ['name'],
  { name: 'version', value: ({ version, path }) => version ?? (path ? 'unknown' : 'no') },
  ['path'],
);

const programs = requestCommand({
  name: 'programs',
  endpoint: endpoints.programs,
  examples: ['', '--json', '--fields name,version'],
  show: ({ out }, reply) => out.page({ reply, rows: reply.programs, columns: programColumns }),
});

const keyColumns = buildColumns<Reply<'tunnel', 'host-keys'>['hostKeys'][number]>([
  'fingerprint',
  'key',
]);

const hostKeys = requestCommand({
  name: 'host-keys',
  args: '<target>',
  endpoint: endpoints['host-keys'],
  examples: [
    'ada@box.example.org',
    'box.example.org --ssh-port 2222',
    'ada@box.example.org --json',
  ],
  flags: { sshPort: textFlag('<port>', 'SSH port. Defaults to 22') },
  more: (_, { args: { target }, flags: { sshPort } }) => ({
    target,
    ...(sshPort !== undefined && { sshPort: Number(sshPort) }),
  }),
  show: ({ out }, reply, { args: { target } }) => {
    if (reply.hostKeys.length === 0) {
      throw failed(
        `No SSH server replies at ${safe(target)}.`,
        'Check the host, or set the port: --ssh-port <port>',
      );
    }
    out.page({ reply, rows: reply.hostKeys, columns: keyColumns });
  },
});

export const tunnelGroup: CommandGroup = {
  summary: 'Manage the tunnel and the public address',
  commands: [
    get,
    setupTunnel,
    set,
    start,
    stop,
    check,
    config,
    address,
    forget,
    programs,
    hostKeys,
  ],
};
