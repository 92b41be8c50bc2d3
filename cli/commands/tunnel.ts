import { contracts } from '../../src/client/index.js';
import { fieldColumns } from '../columns.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { failed, usageFault } from '../exit.js';
import { oneLine, safe } from '../text.js';
import { reachNotes } from '../tunnel/reach.js';
import { settingFields, settingFlags, settingsFrom } from '../tunnel/settings.js';
import { setupTunnel } from '../tunnel/setup.js';
import { showCheck, showTunnel, tunnelColumns } from '../tunnel/show.js';

const endpoints = await contracts.tunnel();
const PROXIES = ['caddy', 'nginx'] as const;

const get = command({
  name: 'get',
  calls: [endpoints.get],
  examples: ['', '--json', '--fields provider,status'],
  run: async (context) => showTunnel(context, await (await context.client()).tunnel.get()),
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
  notes: ['What is not given is taken away, but for the token of the same provider.'],
  seeAlso: 'adjutant tunnel setup',
  run: async (context, { fields, data, flags: { secretFile } }) => {
    const body = await settingsFrom(context, { fields, data, secretFile });
    const tunnel = await (await context.client()).tunnel.set({ body });
    warnOfPasskeys(context, tunnel.passkeysLost);
    const next = tunnel.on ? 'adjutant tunnel check' : 'adjutant tunnel start';
    context.out.done(`Set up: ${tunnel.provider}. Then: ${next}`, tunnel, tunnelColumns);
  },
});

const start = command({
  name: 'start',
  calls: [endpoints.start],
  examples: ['', 'tunnel start && adjutant tunnel check', '--json'],
  run: async (context) => {
    const tunnel = await (await context.client()).tunnel.start();
    context.out.done('On. How it stands: adjutant tunnel get', tunnel, tunnelColumns);
  },
});

const stop = command({
  name: 'stop',
  calls: [endpoints.stop],
  examples: ['', '--json', '--yes'],
  run: async (context) => {
    const tunnel = await (await context.client()).tunnel.stop();
    context.out.done('Off.', tunnel, tunnelColumns);
  },
});

const check = command({
  name: 'check',
  calls: [endpoints.check],
  examples: ['', '--json', 'tunnel check --quiet || adjutant tunnel get'],
  notes: ['Exit 1 where a stage fails. Nothing that it sends is kept as a delivery.'],
  run: async (context) => showCheck(context, await (await context.client()).tunnel.check()),
});

const config = command({
  name: 'config',
  args: '<proxy>',
  values: { proxy: PROXIES },
  calls: [endpoints.config],
  examples: [
    'caddy > Caddyfile',
    'nginx --public-url https://hooks.example.org',
    'nginx --certificate /etc/ssl/hooks.pem --key /etc/ssl/hooks.key',
  ],
  flags: {
    publicUrl: textFlag('<url>', 'Another address than the one that is set up'),
    certificate: textFlag('<file>', 'Of the certificate on the proxy, with --key'),
    key: textFlag('<file>', 'Of its private key there'),
  },
  notes: ['caddy or nginx. It passes /ws on, sets the forwarding headers, logs no query string.'],
  run: async (context, { args, flags }) => {
    const proxy = PROXIES.find((each) => each === args.proxy);
    if (!proxy) throw usageFault(`"${args.proxy}" is neither caddy nor nginx.`);
    const reply = await (await context.client()).tunnel.config({ query: { proxy, ...flags } });
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.line(reply.text.trimEnd());
  },
});

const address = command({
  name: 'address',
  calls: [endpoints.address],
  examples: ['', '--json', 'curl "$(adjutant tunnel address)/health"'],
  run: async (context) => {
    const { out } = context;
    const reply = await (await context.client()).tunnel.address();
    if (out.format === 'json') return out.json(reply);
    if (reply.address === null) return out.note('Nowhere but here: adjutant tunnel setup');
    out.line(reply.address);
    for (const line of reachNotes(reply.reach)) out.warn(line);
  },
});

const forget = command({
  name: 'forget',
  calls: [endpoints.forget],
  examples: ['', '--yes', '--yes --json'],
  notes: ['What is set up beside the address stays. Set it up anew: adjutant tunnel setup'],
  run: async (context) => {
    const client = await context.client();
    const { address } = await client.tunnel.address();
    const which = address === null ? 'the public address' : safe(address);
    await context.ask.confirm(`Forget ${which}? The tunnel is switched off.`);
    const tunnel = await client.tunnel.forget();
    warnOfPasskeys(context, tunnel.passkeysLost);
    context.out.done('Forgotten, and off.', tunnel, tunnelColumns);
  },
});

const warnOfPasskeys = (
  { out }: Context,
  lost: { name: string; username: string; relyingParty: string }[],
): void => {
  for (const { name, username, relyingParty } of lost) {
    const whose = `Passkey ${oneLine(name)} of ${oneLine(username)}`;
    out.warn(`${whose} belongs to ${relyingParty}: it works no more.`);
  }
};

const programs = command({
  name: 'programs',
  calls: [endpoints.programs],
  examples: ['', '--json', '--fields name,version'],
  run: async (context) => {
    const reply = await (await context.client()).tunnel.programs();
    context.out.page({
      reply,
      rows: reply.programs,
      columns: [
        { name: 'name', value: (row) => row.name },
        { name: 'version', value: (row) => row.version ?? (row.path ? 'unknown' : 'no') },
        { name: 'path', value: (row) => row.path },
      ],
    });
  },
});

const hostKeys = command({
  name: 'host-keys',
  args: '<target>',
  calls: [endpoints['host-keys']],
  examples: [
    'ada@box.example.org',
    'box.example.org --ssh-port 2222',
    'ada@box.example.org --json',
  ],
  flags: { sshPort: textFlag('<port>', '22 unless given') },
  run: async (context, { args, flags }) => {
    const sshPort = flags.sshPort === undefined ? {} : { sshPort: Number(flags.sshPort) };
    const client = await context.client();
    const reply = await client.tunnel['host-keys']({ body: { target: args.target, ...sshPort } });
    if (reply.hostKeys.length === 0) {
      throw failed(`No ssh server answers at ${safe(args.target)}.`, 'Its port: --ssh-port <port>');
    }
    context.out.page({
      reply,
      rows: reply.hostKeys,
      columns: [...fieldColumns('fingerprint', 'key')],
    });
  },
});

export const tunnelGroup: CommandGroup = {
  summary: 'How others reach this daemon from outside',
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
