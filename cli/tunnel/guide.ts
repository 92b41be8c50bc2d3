import type { Client, TunnelSettingsInput } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { failed, interrupted } from '../exit.js';
import { oneLine } from '../text.js';

type Programs = Awaited<ReturnType<Client['tunnel']['programs']>>['programs'];

interface TunnelChoice {
  label: string;
  provider: TunnelSettingsInput['provider'];
  ask(context: Context, client: Client): Promise<Omit<TunnelSettingsInput, 'provider'>>;
}

const FORWARD_PORT = '8305';

/** Shows what is installed, asks what the user has, and then for its settings. */
export const guideTunnel = async (
  context: Context,
  client: Client,
): Promise<TunnelSettingsInput> => {
  const { ask } = context;
  const { programs } = await client.tunnel.programs();
  ask.say(`Installed  ${programs.map(formatProgram).join('   ')}`);
  ask.say('What do you have?');
  for (const [at, { label }] of choices.entries()) ask.say(`  ${at + 1} ${label}`);
  const input = await ask.text({
    ask: 'Choose',
    initial: '1',
    instead: '--provider',
    refuse: (typed) =>
      choices[Number(typed) - 1] ? undefined : `Enter a number from 1 to ${choices.length}.`,
  });
  const choice = choices[Number(input) - 1];
  if (!choice) throw interrupted();
  assertProgramInstalled(programs, choice.provider);
  return { provider: choice.provider, ...(await choice.ask(context, client)) };
};

export const assertProgramInstalled = (
  programs: Programs,
  provider: TunnelSettingsInput['provider'],
): void => {
  if (provider === 'proxy') return;
  const found = programs.find(({ name }) => name === provider);
  if (found?.path) return;
  throw failed(
    `${provider} is not installed on the machine of the daemon.`,
    `Install it: ${INSTALL[provider]}`,
    'Then: adjutant tunnel setup',
  );
};

const INSTALL = {
  cloudflared:
    'https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/',
  ngrok: 'https://ngrok.com/download',
  tailscale: 'https://tailscale.com/download',
  ssh: 'apt install openssh-client',
};

const formatProgram = ({ name, path, version }: Programs[number]): string =>
  path === null ? `${name} no` : `${name} ${version ?? 'yes'}`;

const publicUrl = async ({ ask }: Context, initial?: string): Promise<string> => {
  const typed = await ask.text({
    ask: 'Public name',
    initial,
    instead: '--public-url',
    refuse: (name) =>
      URL.canParse(toHttpsUrl(name)) && name !== ''
        ? undefined
        : 'Enter a name like hooks.example.org',
  });
  return toHttpsUrl(typed);
};

const toHttpsUrl = (name: string): string => (/^https?:\/\//.test(name) ? name : `https://${name}`);

const token = ({ ask }: Context, of: string): Promise<string> =>
  ask.hidden({
    ask: `Token of ${of}`,
    instead: '--secret-file',
    refuse: (typed) => (typed.trim() === '' ? 'A token is required.' : undefined),
  });

const server: TunnelChoice['ask'] = async (context, client) => {
  const { ask } = context;
  const needed = (typed: string) =>
    typed === '' ? 'Enter a target like ada@box.example.org' : undefined;
  const target = await ask.text({ ask: 'SSH target', instead: '--target', refuse: needed });
  const port = await ask.text({ ask: 'SSH port', initial: '22', instead: '--ssh-port' });
  const sshPort = port === '22' ? {} : { sshPort: Number(port) };
  const hostKeys = await knownKeys(context, client, { target, ...sshPort });
  const remotePort = await ask.text({
    ask: 'Port of the forward on that server',
    initial: FORWARD_PORT,
    instead: '--remote-port',
  });
  const file = await ask.text({
    ask: 'Private key of the daemon (empty: the defaults of ssh)',
    instead: '--identity-file',
  });
  return {
    target,
    ...sshPort,
    hostKeys,
    remotePort: Number(remotePort),
    ...(file !== '' && { identityFile: file }),
    publicUrl: await publicUrl(context),
  };
};

/** Only the person can tell whether a fingerprint is that of the server. */
const knownKeys = async (
  { ask }: Context,
  client: Client,
  at: { target: string; sshPort?: number },
): Promise<string[]> => {
  const { hostKeys } = await client.tunnel['host-keys']({ body: at });
  if (hostKeys.length === 0)
    throw failed(`No SSH server replies at ${oneLine(at.target)}. Check the host and the port.`);
  for (const { key, fingerprint } of hostKeys) {
    ask.say(`  host key ${key.split(' ', 1)[0]} ${fingerprint}`);
  }
  const question = { ask: 'Are these the keys of that server?', instead: '--host-keys' };
  if (!(await ask.agree(question, false))) {
    throw failed(
      'The host keys were not accepted, so no tunnel was set up.',
      'Compare them with the host keys on the SSH server, then run: adjutant tunnel setup',
    );
  }
  return hostKeys.map(({ key }) => key);
};

const choices: TunnelChoice[] = [
  {
    label: 'nothing: a temporary public address (cloudflared, changes at every start)',
    provider: 'cloudflared',
    ask: async () => ({}),
  },
  {
    label: 'a domain at Cloudflare (cloudflared, permanent)',
    provider: 'cloudflared',
    ask: async (context) => ({
      token: await token(context, 'the tunnel, from Cloudflare’s dashboard'),
      publicUrl: await publicUrl(context),
    }),
  },
  { label: 'a server of your own with SSH', provider: 'ssh', ask: server },
  {
    label: 'a reverse proxy in front (Caddy, nginx)',
    provider: 'proxy',
    ask: async (context) => ({ publicUrl: await publicUrl(context) }),
  },
  {
    label: 'an account at ngrok',
    provider: 'ngrok',
    ask: async (context) => ({ token: await token(context, 'your ngrok account') }),
  },
  { label: 'a Tailscale network (Funnel)', provider: 'tailscale', ask: async () => ({}) },
];
