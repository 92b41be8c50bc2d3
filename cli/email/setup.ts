import { ApiError } from '../../src/client/errors.js';
import { type Client, contracts, type MailAccount, type Reply } from '../../src/client/index.js';
import { type CommandGroup, type Context, command, switchFlag, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { readSecretInput } from '../input.js';
import { oneLine, safe } from '../text.js';
import { loginAdvice, mailAccountColumns, showMailTest, warnSkippedSteps } from './accounts.js';
import { type Consent, consentInBrowser, consentOnDevice } from './consent.js';
import { readingCommands } from './messages.js';
import { processMail } from './process.js';
import { replyToMail } from './reply.js';
import { sendMail } from './send.js';

const endpoints = await contracts.mailaccounts();

type MailServer = MailAccount['imap'];

type SetupServers = Pick<
  Reply<'mailaccounts', 'servers'>,
  'imap' | 'smtp' | 'username' | 'oauth2' | 'hint'
>;

const flags = {
  passwordFile: textFlag(
    '<file|->',
    'File with the password of the mailbox. If not set, the command asks for the password',
  ),
  imap: textFlag(
    '<host:port>',
    'IMAP server. Port 143 uses STARTTLS, other ports use TLS. Defaults to port 993',
  ),
  smtp: textFlag(
    '<host:port>',
    'SMTP server. Ports 587 and 25 use STARTTLS, other ports use TLS. Defaults to port 465',
  ),
  username: textFlag(
    '<name>',
    'Username at the mail server. Defaults to the e-mail address, or to its part before the @ if the provider requires that',
  ),
  clientId: textFlag('<id>', 'OAuth2: id of the client that you registered at the provider'),
  clientSecretFile: textFlag('<file|->', 'OAuth2: file with the client secret'),
  device: switchFlag('OAuth2: log in on another device with a code'),
};
type SetupFlags = { [K in keyof typeof flags]?: K extends 'device' ? boolean : string };

const setupMail = command({
  name: 'setup',
  args: '[address]',
  summary: 'Add a mailbox step by step',
  calls: [endpoints.servers, endpoints.create, endpoints.test, endpoints.get, 'vault create'],
  examples: [
    'ada@example.org',
    'ada@gmail.com --password-file ./app-password',
    'ada@example.org --imap imap.example.org:993 --smtp smtp.example.org:465',
    'ada@outlook.com --client-id 8f3c… --device',
  ],
  flags,
  notes: [
    'The login is stored in the vault and allowed only for these two servers.',
    'Exit code 1: the account was added, but a step of the account test failed.',
  ],
  seeAlso: 'adjutant email accounts',
  run: async (context, { args, flags }) => {
    const client = await context.client();
    const { ask } = context;
    const address =
      args.address ?? (await ask.text({ ask: 'Address', instead: 'an argument: <address>' }));
    await refuseKnown(client, address);
    const servers = await resolveMailServers(context, client, { address, flags });
    if (servers.hint !== null) context.out.note(oneLine(servers.hint));
    const { value, isGrant } = await loginFor(context, { address, flags, servers });
    const account = await store(client, { address, servers, value, isGrant });
    context.out.note(`Added ${safe(address)}.`);
    context.out.note('Testing the mailbox with a message to yourself.');
    const tested = await client.mailaccounts.test({ id: account.id });
    // The test changes the status.
    const after = await client.mailaccounts.get({ id: account.id });
    context.out.done(`${safe(address)} is ${after.status}.`, after, mailAccountColumns);
    if (context.out.format === 'table') showMailTest(context, tested);
    else if (!tested.ok) throw failed(testFault(tested), ...testAdvice(tested));
    else warnSkippedSteps(context, tested);
    if (!tested.ok) return;
    context.out.note('Read it: adjutant email list');
    context.out.note(
      `Process new mail at once: adjutant email accounts update ${safe(address)} --watch`,
    );
  },
});

/** Throws if the mailbox is already added. Its login is changed in the vault. */
const refuseKnown = async (client: Client, address: string): Promise<void> => {
  const { accounts } = await client.mailaccounts.list({ query: { limit: 200 } });
  const known = accounts.find((each) => each.address.toLowerCase() === address.toLowerCase());
  if (!known) return;
  const { name } = await client.vault.get({ id: known.credentialId });
  throw failed(
    `${safe(address)} is already added.`,
    `Change the password: adjutant vault rotate ${safe(name)}`,
    `Change the servers: adjutant email accounts update ${safe(address)} --edit`,
    `Test it: adjutant email accounts test ${safe(address)}`,
  );
};

const testAdvice = ({ account }: Reply<'mailaccounts', 'test'>): string[] =>
  account.status === 'needs_login' ? [loginAdvice(account)] : [];

const testFault = ({ steps }: Reply<'mailaccounts', 'test'>): string => {
  const step = steps.find(({ status }) => status === 'failed');
  return `The account was added, but ${step?.step} fails: ${oneLine(step?.detail ?? '')}`;
};

interface SetupInput {
  address: string;
  flags: SetupFlags;
}

/**
 * Servers from the flags, found by the address, or asked for. The daemon refuses those that it must
 * not connect to, before a password is typed.
 */
const resolveMailServers = async (
  context: Context,
  client: Client,
  { address, flags }: SetupInput,
): Promise<SetupServers> => {
  const { imap, smtp, username } = flags;
  const own = { ...(username !== undefined && { username }) };
  const find = (given: { imap?: MailServer; smtp?: MailServer }) =>
    client.mailaccounts.servers({ body: { address, ...given } });
  const found = await find({
    ...(imap !== undefined && { imap: serverIn(imap, 993) }),
    ...(smtp !== undefined && { smtp: serverIn(smtp, 465) }),
  }).catch((error) => {
    if (error instanceof ApiError && error.code === 'no_servers') return null;
    throw error;
  });
  if (found) {
    if (found.source !== 'given') {
      context.out.note(
        `${oneLine(found.name)}: ${found.imap.host} for reading, ${found.smtp.host} for sending.`,
      );
    }
    return { ...found, ...own };
  }
  const askServer = (ask: string, instead: string) => context.ask.text({ ask, instead });
  context.out.note('The servers for this address are unknown. The default ports are 993 and 465.');
  const asked = {
    imap: serverIn(imap ?? (await askServer('IMAP server (host:port)', '--imap')), 993),
    smtp: serverIn(smtp ?? (await askServer('SMTP server (host:port)', '--smtp')), 465),
  };
  return { ...(await find(asked)), ...own };
};

/** Ports with STARTTLS (RFC 9051, RFC 6409). All others use implicit TLS. */
const STARTTLS_PORTS = [143, 587, 25];

const serverIn = (text: string, implicit: number): MailServer => {
  const [, host, digits] = /^([^\s:]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/i.exec(text.trim()) ?? [];
  if (!host)
    throw usageFault(
      `Invalid server "${oneLine(text)}". Expected a server like mail.example.org:${implicit}`,
    );
  const port = digits === undefined ? implicit : Number(digits);
  return { host, port, tls: STARTTLS_PORTS.includes(port) ? 'starttls' : 'implicit' };
};

const loginFor = async (
  context: Context,
  { address, flags, servers: { oauth2 } }: SetupInput & { servers: SetupServers },
): Promise<{ value: string; isGrant: boolean }> => {
  const { clientId, clientSecretFile, passwordFile, device } = flags;
  if (clientId === undefined) {
    const question = { ask: 'Password of the mailbox', instead: '--password-file' };
    return { value: await readSecretInput(context, passwordFile, question), isGrant: false };
  }
  if (!oauth2)
    throw usageFault(
      'OAuth2 is not supported for this provider. Remove --client-id to log in with a password.',
    );
  const question = { ask: 'Client secret', instead: '--client-secret-file' };
  const clientSecret =
    clientSecretFile === undefined
      ? {}
      : { clientSecret: await readSecretInput(context, clientSecretFile, question) };
  const own = { clientId, ...clientSecret, address };
  return { value: await consentBy(context, oauth2, own, device), isGrant: true };
};

const consentBy = (
  context: Context,
  consent: Consent,
  own: Parameters<typeof consentInBrowser>[2],
  isByDevice = false,
): Promise<string> => {
  const { deviceEndpoint } = consent;
  if (!isByDevice) return consentInBrowser(context, consent, own);
  if (deviceEndpoint === null)
    throw usageFault('This provider does not support login with a code. Remove --device.');
  return consentOnDevice(context, { ...consent, deviceEndpoint }, own);
};

interface StoredLogin {
  address: string;
  servers: SetupServers;
  value: string;
  isGrant: boolean;
}

/** Stores the login and the account. If the account fails, the login is removed again. */
const store = async (
  client: Client,
  { address, servers, value, isGrant }: StoredLogin,
): Promise<MailAccount> => {
  const { imap, smtp, username } = servers;
  const allowedHosts = [imap, smtp].map(({ host, port }) => `${host.toLowerCase()}:${port}`);
  const credential = await client.vault.create({
    body: {
      name: await unusedName(client, `mail-${address.replace(/[^\w.-]/g, '-').slice(0, 80)}`),
      value,
      type: isGrant ? 'oauth_token' : 'password',
      description: `Login of the mailbox ${address}`,
      allowedHosts,
    },
  });
  try {
    const auth = isGrant ? ('oauth2' as const) : ('password' as const);
    const body = { address, credentialId: credential.id, auth, imap, smtp, username };
    return await client.mailaccounts.create({ body });
  } catch (error) {
    await client.vault.delete({ id: credential.id });
    throw error;
  }
};

/** Returns an unused credential name: the login of a removed mailbox stays in the vault. */
const unusedName = async (client: Client, name: string): Promise<string> => {
  const { credentials } = await client.vault.list({ query: { limit: 200 } });
  const used = new Set(credentials.map((each) => each.name));
  let unused = name;
  for (let n = 2; used.has(unused); n++) unused = `${name}-${n}`;
  return unused;
};

export const emailGroup: CommandGroup = {
  commands: [setupMail, ...readingCommands, sendMail, replyToMail, processMail],
};
