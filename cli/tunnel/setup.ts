import {
  type Client,
  contracts,
  type TunnelCheck,
  type TunnelSettingsInput,
  type TunnelView,
} from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { buildColumns } from '../columns.js';
import { type Context, command, textFlag } from '../command.js';
import { Exit, failed, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readSecretInput } from '../input.js';
import { ago, oneLine, padded, safe } from '../text.js';
import { assertProgramInstalled, guideTunnel } from './guide.js';

const STAGE_WIDTH = 12;
const STATUS_WIDTH = 7;
const LOG_LINES = 10;
const WORDS = { ok: 'ok', warn: 'WARN', failed: 'FAILED', not_run: 'not run' };

export const tunnelColumns = buildColumns<TunnelView>(
  ['provider', 'status:state', 'address', 'reach:state'],
  { name: 'check', value: ({ check }) => (check ? formatCheck(check) : null) },
  ['detail'],
);

const stageColumns = buildColumns<TunnelCheck['stages'][number]>([
  'name',
  'status:state',
  'latency=latencyMs',
  'detail',
]);

export const showTunnel = (context: Context, tunnel: TunnelView): void => {
  const { out } = context;
  if (out.format !== 'table') {
    out.item(tunnel, tunnelColumns);
  } else if (tunnel.provider === null) {
    out.line('No tunnel is set up. Only this machine can reach the daemon.');
    out.note('Set it up: adjutant tunnel setup');
  } else {
    describe(context, tunnel);
  }
};

const describe = ({ out }: Context, tunnel: TunnelView): void => {
  const since = tunnel.since === null ? '' : `, ${ago(tunnel.since)}`;
  out.line(
    `${tunnel.provider}   ${tunnel.status}${since}   ${safe(tunnel.address ?? 'no address')}${formatReach(tunnel)}`,
  );
  if (tunnel.detail) out.line(`Cause ${oneLine(tunnel.detail)}`);
  if (tunnel.addressHeader === null) {
    out.line('The tunnel does not forward addresses of clients, so limits per address are off.');
  }
  if (tunnel.check) showStages({ out }, tunnel.check);
  for (const { at, line } of tunnel.log.slice(-LOG_LINES)) {
    out.line(`  ${at.slice(11, 19)} ${oneLine(line)}`);
  }
  out.note(
    tunnel.on ? 'Check the whole route: adjutant tunnel check' : 'Start: adjutant tunnel start',
  );
};

/** Prints each stage, and the remedy of the first failure. Sets the exit code. */
export const showCheck = (context: Context, check: TunnelCheck): void => {
  const { out } = context;
  if (!check.ok) context.exitCode = Exit.failed;
  if (out.format !== 'table') {
    out.page({ reply: check, rows: check.stages, columns: stageColumns });
    return;
  }
  out.line(`Checking from outside: ${safe(check.address)}`);
  showStages(context, check);
};

const showStages = ({ out }: Pick<Context, 'out'>, { stages, failure }: TunnelCheck): void => {
  for (const [at, { name, status, detail, latencyMs }] of stages.entries()) {
    const words = [padded(name, STAGE_WIDTH), padded(WORDS[status], STATUS_WIDTH)];
    const took = latencyMs === null ? '' : `, ${latencyMs} ms`;
    out.line(`  ${at + 1} ${words.join(' ')} ${oneLine(detail)}${took}`.trimEnd());
  }
  if (!failure) return;
  out.line(`Cause ${oneLine(failure.cause)}`);
  out.line(`Fix   ${oneLine(failure.remedy)}`);
};

const formatReach = ({ reach }: TunnelView): string => (reach === 'none' ? '' : `   ${reach}`);

const formatCheck = ({ stages, failure }: TunnelCheck): string =>
  failure === null ? `${stages.length} of ${stages.length}` : `failed at ${failure.stage}`;

const { set } = await contracts.tunnel();

/** The token is a secret, so it has no flag. */
export const settingFields = () => requestFields(set.body, ['token']);
export const settingFlags = {
  secretFile: textFlag('<file|->', 'File with the token of cloudflared or ngrok'),
};

export const settingsFrom = async (
  context: Context,
  input: { fields: Record<string, unknown>; data?: string; secretFile?: string },
): Promise<TunnelSettingsInput> => {
  const { fields, data, secretFile } = input;
  const question = { ask: 'Token', instead: '--secret-file' };
  const token = secretFile && (await readSecretInput(context, secretFile, question));
  const cleared = Object.entries(fields).map(([name, value]) => [
    name,
    value === 'null' ? null : value,
  ]);
  const filled = { fields: Object.fromEntries(cleared), data, more: { token } };
  return requestFrom(set.body, filled, context.at);
};

const UP_MS = 60_000;
const POLL_MS = 250;

export const setupTunnel = command({
  name: 'setup',
  summary: 'Set up a public address step by step',
  examples: [
    '',
    '--provider cloudflared',
    '--provider cloudflared --secret-file token.txt --public-url https://hooks.example.org',
    '--provider ssh --target ada@box.example.org --remote-port 8305' +
      ' --public-url https://hooks.example.org',
  ],
  fields: settingFields,
  flags: settingFlags,
  notes: [
    'Admins only. Exit code 1: a stage failed. The settings are kept, and the output ' +
      'shows a remedy.',
  ],
  seeAlso: 'adjutant tunnel config, adjutant help tunnel',
  run: async (context, { flags, fields }) => {
    const client = await context.client();
    const settings = await chosen(context, client, { fields, secretFile: flags.secretFile });
    const tunnel = await startTunnel(context, client, settings);
    await explainProxy(context, client, tunnel);
    const check = await checkUntilReachable(context, client);
    if (context.out.format !== 'table') showCheck(context, check);
    if (!check.ok) {
      context.exitCode = Exit.failed;
      return context.out.note('To check it later: adjutant tunnel check');
    }
    await keepAddress(context, client, settings);
  },
});

const chosen = async (
  context: Context,
  client: Client,
  input: { fields: Record<string, unknown>; secretFile?: string },
): Promise<TunnelSettingsInput> => {
  if (input.fields.provider === undefined) {
    if (!context.ask.isPossible) {
      throw usageFault(
        'Provider is missing. Add --provider cloudflared, ngrok, tailscale, ssh or proxy.',
      );
    }
    return guideTunnel(context, client);
  }
  const settings = await settingsFrom(context, input);
  assertProgramInstalled((await client.tunnel.programs()).programs, settings.provider);
  return settings;
};

const startTunnel = async (
  { out }: Context,
  client: Client,
  settings: TunnelSettingsInput,
): Promise<TunnelView> => {
  const { passkeysLost } = await client.tunnel.set({ body: settings });
  for (const { username, name, relyingParty } of passkeysLost) {
    out.warn(
      `Passkey ${oneLine(name)} of ${oneLine(username)} belongs to ${relyingParty} and ` +
        'no longer works.',
    );
  }
  const since = performance.now();
  await client.tunnel.start();
  for (;;) {
    const tunnel = await client.tunnel.get();
    const tookMs = performance.now() - since;
    if (tunnel.status === 'running') {
      const seconds = (tookMs / 1000).toFixed(1);
      if (settings.provider !== 'proxy') {
        out.note(`Starting   ${settings.provider} up in ${seconds} s, supervised`);
      }
      return tunnel;
    }
    if (tunnel.restarts >= 2 || tookMs > UP_MS) throw startFailure(tunnel);
    await systemClock.wait(POLL_MS);
  }
};

const startFailure = ({ provider, detail }: TunnelView) =>
  failed(
    `${provider} does not start: ${oneLine(detail ?? 'no output')}`,
    'The daemon retries the start. Output of the program: adjutant tunnel get',
    'To stop the tunnel: adjutant tunnel stop',
  );

/** A server or proxy of your own needs a manual step. */
const explainProxy = async (
  { out, ask }: Context,
  client: Client,
  { provider, upstream, publicUrl }: TunnelView,
): Promise<void> => {
  if (provider !== 'ssh' && provider !== 'proxy') return;
  const where = provider === 'ssh' ? 'on the server' : 'at the proxy';
  const host = publicUrl === null ? '' : new URL(publicUrl).host;
  out.note(
    `Proxy      ${where}, Caddyfile (print it with adjutant tunnel config caddy, or nginx):`,
  );
  out.note(`             ${safe(host)} { reverse_proxy ${upstream} }`);
  if (!ask.isPossible) return;
  const { failure } = await client.tunnel.check();
  if (failure === null) return;
  await ask.text({ ask: 'Press enter when it is in place', instead: '--no-input' });
};

const checkUntilReachable = async (context: Context, client: Client): Promise<TunnelCheck> => {
  for (;;) {
    const check = await client.tunnel.check();
    if (context.out.format === 'table') showCheck(context, check);
    if (check.ok || !context.ask.isPossible) return check;
    context.exitCode = Exit.done;
    const question = { ask: 'Enter checks again, q quits', instead: '--no-input' };
    if ((await context.ask.text(question)) === 'q') return check;
  }
};

/** A permanent name is stored as the public address; a temporary one is only shown. */
const keepAddress = async (
  { out }: Context,
  client: Client,
  settings: TunnelSettingsInput,
): Promise<void> => {
  const { address, publicUrl } = await client.tunnel.get();
  if (address === null) return;
  if (settings.provider === 'tailscale' && publicUrl === null) {
    await client.tunnel.set({ body: { ...settings, publicUrl: address } });
  }
  const { isTemporary } = await client.tunnel.address();
  out.note(isTemporary ? `Temporary address: ${address}` : `Public address set: ${address}`);
  out.note(`Webhooks go to ${address}/api/webhooks/<path>.`);
  out.note(
    isTemporary
      ? 'The address may change at every start, so passkeys cannot use this address.'
      : 'Passkeys now belong to this name. New accounts now need an invite.',
  );
};
