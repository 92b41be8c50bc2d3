import { randomBytes } from 'node:crypto';
import type { PlatformReply } from '../../src/client/index.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { oneLine } from '../text.js';
import { type FieldFlags, flagOf, readPlatformFields } from './fields.js';

type AskedField = PlatformReply['fields'][number];

/** Values of our own choice, made here where nobody has one. */
const MADE: Record<string, 'shown' | 'hidden'> = { verifyToken: 'shown', webhookSecret: 'hidden' };
const MADE_BYTES = 32;

interface PlatformChanges {
  baseUrl?: string | null;
  values?: Record<string, string>;
}

/** The values to store: the flags, and answers beside them. null: nothing changes. */
export const asked = async (
  context: Context,
  platform: PlatformReply,
  flags: FieldFlags,
): Promise<PlatformChanges | null> => {
  const fields = await readPlatformFields(context, flags);
  const baseUrl = flags.baseUrl ?? (await askedUrl(context, platform));
  refuseForeign(platform, fields);
  const isMoved = baseUrl !== undefined && originOf(baseUrl) !== originOf(platform.baseUrl);
  // A secret is for the place it was given for: the daemon forgets it with the address.
  const open = platform.fields
    .filter(({ name }) => fields[name] === undefined)
    .map((field) => ({ ...field, isSet: field.isSet && !(isMoved && field.isSecret) }));
  refuseMissing(context, platform, open);
  for (const field of open) {
    const value = await askedField(context, platform, field);
    if (value !== null) fields[field.name] = value;
  }
  const body = {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(Object.keys(fields).length > 0 && { values: fields }),
  };
  return Object.keys(body).length > 0 ? body : null;
};

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

/** Only Mattermost has no one address of its own. */
const askedUrl = async (
  { ask }: Context,
  { kind, isDefaultUrl }: PlatformReply,
): Promise<string | undefined> => {
  if (kind !== 'mattermost' || !isDefaultUrl) return undefined;
  return ask.text({
    ask: 'Address of your Mattermost server',
    instead: '--base-url',
    refuse: (given) =>
      URL.canParse(given) ? undefined : 'An address like https://chat.example.org',
  });
};

const refuseForeign = ({ kind, fields }: PlatformReply, given: Record<string, string>): void => {
  const foreign = Object.keys(given).find((name) => !fields.some((field) => field.name === name));
  if (foreign)
    throw usageFault(`${kind} has no ${foreign}.`, `It needs: ${fields.map(flagOf).join(' ')}`);
};

/** Usage: some are needed, and there is nobody to ask. */
const refuseMissing = ({ ask }: Context, { kind }: PlatformReply, fields: AskedField[]): void => {
  const missing = fields.filter(({ name, isSet }) => !isSet && !MADE[name]);
  if (ask.isPossible || missing.length === 0) return;
  const flags = missing.map(flagOf).join(' ');
  throw usageFault(`${kind} needs more, and there is no terminal to ask. Add ${flags}.`);
};

/** null: it stays as it is. */
const askedField = async (
  context: Context,
  { kind }: PlatformReply,
  field: AskedField,
): Promise<string | null> => {
  const { name, isSecret, isSet, description } = field;
  const { ask, out } = context;
  if (!ask.isPossible) return isSet ? null : made(context, name);
  const empty = isSet ? 'enter keeps it' : MADE[name] ? 'enter makes one' : '';
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

const made = ({ out }: Context, name: string): string => {
  const value = randomBytes(MADE_BYTES).toString('hex');
  if (MADE[name] === 'shown') out.warn(`${name}, to be typed at the platform: ${value}`);
  return value;
};
