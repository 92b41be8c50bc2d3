import { randomBytes } from 'node:crypto';
import type { Client, PlatformReply } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type Context, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { dashed } from '../fields.js';
import { readSecretInput } from '../input.js';
import { oneLine } from '../text.js';

export const platformTableColumns = buildColumns<PlatformReply>(
  ['kind'],
  { name: 'state', value: (one) => formatPlatformState(one), isState: true, only: 'table' },
  ['sends:data', 'receives:data'],
  { name: 'missing', value: (one) => missingSettings(one).join(' ') },
  ['base-url=baseUrl', 'receiver:data'],
);

const formatPlatformState = ({ sends, receives, receiver, updatedAt }: PlatformReply): string => {
  if (updatedAt === null) return 'not set up';
  if (sends && (receives || receiver === null)) return 'ready';
  if (sends) return 'sends only';
  return receives ? 'receives only' : 'incomplete';
};

export const missingSettings = ({ fields }: PlatformReply): string[] =>
  fields.filter(({ isSet, isOptional }) => !isSet && !isOptional).map(({ name }) => name);

export const findPlatform = async (client: Client, kind: string): Promise<PlatformReply> => {
  const { platforms } = await client.platforms.list();
  const found = platforms.find((one) => one.kind === kind.toLowerCase());
  if (found) return found;
  const kinds = platforms.map((one) => one.kind).join(', ');
  throw usageFault(`Unknown platform "${oneLine(kind)}".`, `Platforms: ${kinds}`);
};

const secret = (about: string) => textFlag('<file|->', about);

/**
 * Flags of the platform settings. A flag for a secret names a file, because other users of the
 * machine can see the command line.
 */
export const fieldFlags = {
  baseUrl: textFlag('<url>', 'API address. For Mattermost and ntfy: address of your server'),
  phoneNumberId: textFlag('<id>', 'WhatsApp: phone number ID'),
  botTokenFile: secret('Slack, Telegram, Mattermost, Discord: file with the bot token'),
  signingSecretFile: secret('Slack: file with the signing secret'),
  publicKey: textFlag('<hex>', 'Discord: public key of the application'),
  webhookSecretFile: secret(
    'Telegram: file with a webhook secret of your choice: 32 to 256 letters, digits, _ or -',
  ),
  commandTokensFile: secret(
    'Mattermost: file with the tokens of the commands and webhooks, separated by spaces',
  ),
  securityTokenFile: secret('Teams: file with the security token of the outgoing webhook'),
  workflowUrlFile: secret('Teams: file with the URL of the workflow'),
  appSecretFile: secret('WhatsApp: file with the app secret'),
  verifyTokenFile: secret('WhatsApp: file with a verify token of your choice'),
  from: textFlag('<address>', 'E-mail: sender address'),
  host: textFlag('<host>', 'E-mail: host of the SMTP server'),
  port: textFlag(
    '<number>',
    'E-mail: port of the SMTP server. Defaults to 465, or to 587 with starttls',
  ),
  tls: textFlag('<how>', 'E-mail: TLS mode, implicit or starttls. Defaults to implicit'),
  username: textFlag('<name>', 'E-mail: username at the SMTP server'),
  passwordFile: secret('E-mail: file with the password at the SMTP server'),
  accessTokenFile: secret('WhatsApp, ntfy: file with the access token'),
  templateName: textFlag(
    '<name>',
    'WhatsApp: name of the message template that Meta approved. Required for messages more than 24 hours after the last message of the user',
  ),
  templateLanguage: textFlag(
    '<code>',
    'WhatsApp: language of the template, such as pt_BR. Defaults to en',
  ),
  templateParameter: textFlag(
    '<name>',
    'WhatsApp: name of the template parameter for the text. Defaults to 1, for {{1}}',
  ),
};

export type FieldFlags = { [K in keyof typeof fieldFlags]?: string };

/**
 * The flag of a setting: `--bot-token-file` for the secret `botToken`, `--phone-number-id`
 * otherwise.
 */
export const formatSettingFlag = ({
  name,
  isSecret,
}: {
  name: string;
  isSecret: boolean;
}): string => `--${dashed(name)}${isSecret ? '-file' : ''}`;

/**
 * Returns the flag values by API name, with secrets read from their files. Only one may come from
 * stdin.
 */
export const readPlatformFields = async (
  context: Context,
  { baseUrl: _, ...flags }: FieldFlags,
): Promise<Record<string, string>> => {
  const input = Object.entries(flags).filter(([, value]) => value !== undefined);
  if (input.filter(([, value]) => value === '-').length > 1) {
    throw usageFault('Only one secret can be read from stdin. Pass the others as files.');
  }
  const fields: Record<string, string> = {};
  for (const [flag, value] of input) {
    const name = flag.replace(/File$/, '');
    fields[name] = flag === name ? value : await readSecret(context, name, value);
  }
  return fields;
};

const readSecret = (context: Context, name: string, file: string): Promise<string> =>
  readSecretInput(context, file, {
    ask: name,
    instead: formatSettingFlag({ name, isSecret: true }),
  });

type AskedField = PlatformReply['fields'][number];

/** Secrets that the command generates if absent, because no platform issues them. */
const GENERATED: Record<string, 'shown' | 'hidden'> = {
  verifyToken: 'shown',
  webhookSecret: 'hidden',
};
const GENERATED_BYTES = 32;

interface PlatformChanges {
  baseUrl?: string | null;
  values?: Record<string, string>;
}

/** Returns the values to store, from flags and input, or null if nothing changes. */
export const valuesToStore = async (
  context: Context,
  platform: PlatformReply,
  flags: FieldFlags,
): Promise<PlatformChanges | null> => {
  const fields = await readPlatformFields(context, flags);
  const baseUrl = flags.baseUrl ?? (await askUrl(context, platform));
  refuseForeign(platform, fields);
  const isElsewhere = baseUrl !== undefined && toOrigin(baseUrl) !== toOrigin(platform.baseUrl);
  // The daemon deletes secrets when their address changes.
  const withSecretState = (field: AskedField): AskedField => ({
    ...field,
    isSet: field.isSet && !(field.isSecret && (isElsewhere || isMoved(platform, fields))),
  });
  const open = platform.fields.filter(({ name }) => fields[name] === undefined);
  refuseMissing(context, platform, open.map(withSecretState));
  for (const field of open) {
    const value = await askField(context, platform, withSecretState(field));
    if (value !== null) fields[field.name] = value;
  }
  const body = {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(Object.keys(fields).length > 0 && { values: fields }),
  };
  if (Object.keys(body).length > 0) return body;
  // A platform without required settings is set up by its default address.
  return platform.updatedAt === null ? { baseUrl: null } : null;
};

/** Settings besides the address that determine where secrets are sent. */
const PLACES = ['host', 'port'];

const isMoved = ({ fields }: PlatformReply, input: Record<string, string>): boolean =>
  fields.some(({ name, value }) => PLACES.includes(name) && (input[name] ?? value) !== value);

const toOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

/**
 * Asks for the address of a self-hosted server, which Mattermost requires and ntfy allows. The
 * other platforms have one address.
 */
const askUrl = async (
  { ask }: Context,
  { kind, baseUrl, isDefaultUrl }: PlatformReply,
): Promise<string | undefined> => {
  const isOptional = kind === 'ntfy';
  if (!isDefaultUrl || (kind !== 'mattermost' && !(isOptional && ask.isPossible))) return undefined;
  const input = await ask.text({
    ask: isOptional
      ? `Address of the server (enter: ${baseUrl})`
      : 'Address of your Mattermost server',
    instead: '--base-url',
    refuse: (typed) =>
      URL.canParse(typed) || (isOptional && typed.trim() === '')
        ? undefined
        : 'Enter an address like https://chat.example.org',
  });
  return input.trim() || undefined;
};

const refuseForeign = ({ kind, fields }: PlatformReply, input: Record<string, string>): void => {
  const foreign = Object.keys(input).find((name) => !fields.some((field) => field.name === name));
  if (foreign)
    throw usageFault(
      `${kind} has no setting ${foreign}.`,
      `Its flags: ${fields.map(formatSettingFlag).join(' ')}`,
    );
};

const refuseMissing = ({ ask }: Context, { kind }: PlatformReply, fields: AskedField[]): void => {
  const missing = fields.filter(({ name, isSet, isOptional }) => {
    return !isSet && !isOptional && !GENERATED[name];
  });
  if (ask.isPossible || missing.length === 0) return;
  const flags = missing.map(formatSettingFlag).join(' ');
  throw usageFault(
    `${kind} needs more settings, but there is no terminal to ask for them. Add ${flags}.`,
  );
};

const askField = async (
  context: Context,
  { kind }: PlatformReply,
  field: AskedField,
): Promise<string | null> => {
  const { name, isSecret, isSet, isOptional, description } = field;
  const { ask, out } = context;
  if (!ask.isPossible) return isSet ? null : generate(context, name);
  const unset = isOptional ? 'enter skips it' : '';
  const empty = isSet ? 'enter keeps it' : GENERATED[name] ? 'enter generates one' : unset;
  const question = {
    ask: [name, empty && `(${empty})`].filter(Boolean).join(' '),
    instead: formatSettingFlag(field),
    refuse: (input: string) =>
      input.trim() === '' && !empty ? `${kind} requires a value.` : undefined,
  };
  out.note(oneLine(description));
  const input = (await (isSecret ? ask.hidden(question) : ask.text(question))).trim();
  if (input !== '') return input;
  return isSet ? null : generate(context, name);
};

/** Generates a value for an absent setting, or returns null if it stays unset. */
const generate = ({ out }: Context, name: string): string | null => {
  if (!GENERATED[name]) return null;
  const value = randomBytes(GENERATED_BYTES).toString('hex');
  if (GENERATED[name] === 'shown') out.warn(`${name}, to enter at the platform: ${value}`);
  return value;
};
