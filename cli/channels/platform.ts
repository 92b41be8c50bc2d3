import { randomBytes } from 'node:crypto';
import type { Client, PlatformReply } from '../../src/client/index.js';
import { columnsOf } from '../columns.js';
import { type Context, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { dashed } from '../fields.js';
import { secretFrom } from '../input.js';
import { oneLine } from '../text.js';

export const platformTableColumns = columnsOf<PlatformReply>(
  ['kind'],
  { name: 'state', value: (one) => stateOf(one), isState: true, only: 'table' },
  ['sends:data', 'receives:data'],
  { name: 'missing', value: (one) => missingOf(one).join(' ') },
  ['base-url=baseUrl', 'receiver:data'],
);

const stateOf = ({ sends, receives, receiver, updatedAt }: PlatformReply): string => {
  if (updatedAt === null) return 'not set up';
  if (sends && (receives || receiver === null)) return 'ready';
  if (sends) return 'sends only';
  return receives ? 'receives only' : 'not complete';
};

/** The names of the settings that are missing. */
export const missingOf = ({ fields }: PlatformReply): string[] =>
  fields.filter(({ isSet, isOptional }) => !isSet && !isOptional).map(({ name }) => name);

/** Finds a platform by its kind. Usage: there is none of that kind. */
export const findPlatform = async (client: Client, kind: string): Promise<PlatformReply> => {
  const { platforms } = await client.platforms.list();
  const found = platforms.find((one) => one.kind === kind.toLowerCase());
  if (found) return found;
  const kinds = platforms.map((one) => one.kind).join(', ');
  throw usageFault(`No platform "${oneLine(kind)}".`, `There are: ${kinds}`);
};

const secret = (about: string) => textFlag('<file|->', about);

/**
 * The settings of the platforms, each with its flag. The flag of a secret names a file, since other
 * users of the machine can see a command line.
 */
export const fieldFlags = {
  baseUrl: textFlag('<url>', 'Another address of its API; Mattermost, ntfy: that of your server'),
  phoneNumberId: textFlag('<id>', 'WhatsApp: the phone number ID'),
  botTokenFile: secret('Slack, Telegram, Mattermost, Discord: the token of the bot'),
  signingSecretFile: secret('Slack: the signing secret'),
  publicKey: textFlag('<hex>', 'Discord: the public key of the application'),
  webhookSecretFile: secret('Telegram: of your own choice'),
  commandTokensFile: secret('Mattermost: the tokens of its commands and webhooks'),
  securityTokenFile: secret('Teams: the security token of the outgoing webhook'),
  workflowUrlFile: secret('Teams: the URL of the workflow'),
  appSecretFile: secret('WhatsApp: the app secret'),
  verifyTokenFile: secret('WhatsApp: of your own choice'),
  from: textFlag('<address>', 'E-mail: the address from which it is sent'),
  host: textFlag('<host>', 'E-mail: the server for outgoing mail'),
  port: textFlag('<number>', 'E-mail: its port, 465 unless given'),
  tls: textFlag('<how>', 'E-mail: implicit, or starttls'),
  username: textFlag('<name>', 'E-mail: the name of its login'),
  passwordFile: secret('E-mail: the password of that login'),
  accessTokenFile: secret('WhatsApp, ntfy: the access token'),
  templateName: textFlag('<name>', 'WhatsApp: an approved template for later than 24 hours'),
  templateLanguage: textFlag('<code>', 'WhatsApp: the language of that template'),
  templateParameter: textFlag('<name>', 'WhatsApp: the parameter of its body that takes the text'),
};

export type FieldFlags = { [K in keyof typeof fieldFlags]?: string };

/**
 * The flag of a setting: `--bot-token-file` for the secret `botToken`, `--phone-number-id`
 * otherwise.
 */
export const flagOf = ({ name, isSecret }: { name: string; isSecret: boolean }): string =>
  `--${dashed(name)}${isSecret ? '-file' : ''}`;

/**
 * Returns the values of the flags by their names in the API, secrets read from their files. Usage:
 * two flags read stdin.
 */
export const readPlatformFields = async (
  context: Context,
  { baseUrl: _, ...flags }: FieldFlags,
): Promise<Record<string, string>> => {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  if (given.filter(([, value]) => value === '-').length > 1) {
    throw usageFault('Only one of them can be on stdin; give the others as files.');
  }
  const fields: Record<string, string> = {};
  for (const [flag, value] of given) {
    const name = flag.replace(/File$/, '');
    fields[name] = flag === name ? value : await readSecret(context, name, value);
  }
  return fields;
};

const readSecret = (context: Context, name: string, file: string): Promise<string> =>
  secretFrom(context, file, { ask: name, instead: flagOf({ name, isSecret: true }) });

type AskedField = PlatformReply['fields'][number];

/** Secrets that the command generates if none is given, since no platform issues them. */
const MADE: Record<string, 'shown' | 'hidden'> = { verifyToken: 'shown', webhookSecret: 'hidden' };
const MADE_BYTES = 32;

interface PlatformChanges {
  baseUrl?: string | null;
  values?: Record<string, string>;
}

/** Returns the values to store, from flags and typed input. null: nothing changes. */
export const valuesToStore = async (
  context: Context,
  platform: PlatformReply,
  flags: FieldFlags,
): Promise<PlatformChanges | null> => {
  const fields = await readPlatformFields(context, flags);
  const baseUrl = flags.baseUrl ?? (await askedUrl(context, platform));
  refuseForeign(platform, fields);
  const isElsewhere = baseUrl !== undefined && originOf(baseUrl) !== originOf(platform.baseUrl);
  // A secret is for the place it was given for: the daemon forgets it with the address.
  const asItStays = (field: AskedField): AskedField => ({
    ...field,
    isSet: field.isSet && !(field.isSecret && (isElsewhere || isMoved(platform, fields))),
  });
  const open = platform.fields.filter(({ name }) => fields[name] === undefined);
  refuseMissing(context, platform, open.map(asItStays));
  for (const field of open) {
    const value = await askedField(context, platform, asItStays(field));
    if (value !== null) fields[field.name] = value;
  }
  const body = {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(Object.keys(fields).length > 0 && { values: fields }),
  };
  if (Object.keys(body).length > 0) return body;
  // What needs nothing is set up by its usual address.
  return platform.updatedAt === null ? { baseUrl: null } : null;
};

/** The settings that say where the secrets of a platform go, beside its address. */
const PLACES = ['host', 'port'];

const isMoved = ({ fields }: PlatformReply, given: Record<string, string>): boolean =>
  fields.some(({ name, value }) => PLACES.includes(name) && (given[name] ?? value) !== value);

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

/**
 * Asks for the address of a server of one's own, which Mattermost always has and ntfy may have; the
 * other platforms have one address for all.
 */
const askedUrl = async (
  { ask }: Context,
  { kind, baseUrl, isDefaultUrl }: PlatformReply,
): Promise<string | undefined> => {
  const isOptional = kind === 'ntfy';
  if (!isDefaultUrl || (kind !== 'mattermost' && !(isOptional && ask.isPossible))) return undefined;
  const given = await ask.text({
    ask: isOptional
      ? `Address of the server (enter: ${baseUrl})`
      : 'Address of your Mattermost server',
    instead: '--base-url',
    refuse: (typed) =>
      URL.canParse(typed) || (isOptional && typed.trim() === '')
        ? undefined
        : 'An address like https://chat.example.org',
  });
  return given.trim() || undefined;
};

const refuseForeign = ({ kind, fields }: PlatformReply, given: Record<string, string>): void => {
  const foreign = Object.keys(given).find((name) => !fields.some((field) => field.name === name));
  if (foreign)
    throw usageFault(`${kind} has no ${foreign}.`, `It needs: ${fields.map(flagOf).join(' ')}`);
};

/** Usage: settings are missing, and there is no terminal to ask for them. */
const refuseMissing = ({ ask }: Context, { kind }: PlatformReply, fields: AskedField[]): void => {
  const missing = fields.filter(({ name, isSet, isOptional }) => {
    return !isSet && !isOptional && !MADE[name];
  });
  if (ask.isPossible || missing.length === 0) return;
  const flags = missing.map(flagOf).join(' ');
  throw usageFault(`${kind} needs more, and there is no terminal to ask. Add ${flags}.`);
};

/** Asks for one setting. null: it stays as it is. */
const askedField = async (
  context: Context,
  { kind }: PlatformReply,
  field: AskedField,
): Promise<string | null> => {
  const { name, isSecret, isSet, isOptional, description } = field;
  const { ask, out } = context;
  if (!ask.isPossible) return isSet ? null : made(context, name);
  const unset = isOptional ? 'enter leaves it out' : '';
  const empty = isSet ? 'enter keeps it' : MADE[name] ? 'enter makes one' : unset;
  const question = {
    ask: [name, empty && `(${empty})`].filter(Boolean).join(' '),
    instead: flagOf(field),
    refuse: (given: string) => (given.trim() === '' && !empty ? `${kind} needs it.` : undefined),
  };
  out.note(oneLine(description));
  const given = (await (isSecret ? ask.hidden(question) : ask.text(question))).trim();
  if (given !== '') return given;
  return isSet ? null : made(context, name);
};

/** Returns a value for a setting that nobody gave. null: it stays unset. */
const made = ({ out }: Context, name: string): string | null => {
  if (!MADE[name]) return null;
  const value = randomBytes(MADE_BYTES).toString('hex');
  if (MADE[name] === 'shown') out.warn(`${name}, to be typed at the platform: ${value}`);
  return value;
};
