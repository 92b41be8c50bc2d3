import { buffer } from 'node:stream/consumers';
import type { Description, ObjectSchema, Schema } from 'joi';
import { parseExact } from '../src/client/index.js';
import { valueAt } from './columns.js';
import { decodeUnicode } from './decode.js';
import { fieldsFault, usageFault } from './exit.js';
import type { CommandSetting } from './invocation.js';
import { readFlagFile } from './localfile.js';
import { now, oneLine, plainText } from './text.js';

/** `name|json`: a word, or an object instead. */
type RequestFieldKind = 'text' | 'number' | 'flag' | 'list' | 'json' | 'name|json';

/** A flag derived from a field of a request. */
export interface RequestField {
  /** Path in the request: `actionConfig.agentPrompt`. */
  path: string;
  /** `agent-prompt`, or the long form if two fields end alike. */
  name: string;
  /** `action-config.agent-prompt`; also accepted. */
  longName: string;
  kind: RequestFieldKind;
  about: string;
  values: string[];
  isNeeded: boolean;
  /** Whether `null` removes the value. */
  isNullable: boolean;
}

/** The flags of a request schema. `except`: paths without a flag, because they are secrets. */
export const requestFields = (schema: Schema, except: string[] = []): RequestField[] => {
  const fields = leaves(schema.describe(), []).filter(({ path }) => !except.includes(path));
  const isUnique = (name: string) =>
    fields.filter(({ longName }) => !CALLED.has(longName) && getLastSegment(longName) === name)
      .length === 1;
  return fields.map((field) => {
    const short = getLastSegment(field.longName);
    const name = CALLED.get(field.longName) ?? (isUnique(short) ? short : field.longName);
    return { ...field, name, about: formatAbout(field) };
  });
};

const formatAbout = (field: Omit<RequestField, 'name'>): string => {
  if (field.path === ORG_FIELD) return `Slug or ${field.about}`;
  return isPeriodEdge(field) ? [field.about, AGE_HINT].filter(Boolean).join('. ') : field.about;
};

const AGE_HINT = 'A date, a time, or an age such as 2h';

/** Whether the field limits a period in the past. */
const isPeriodEdge = ({ path, kind }: Pick<RequestField, 'path' | 'kind'>): boolean =>
  kind === 'text' && (path === 'since' || path === 'until');

const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An age as the time of that age: `90m`, `2h`, `3d`. Other text stays unchanged. */
export const momentOfAge = (text: string): string => {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === undefined) return text;
  return new Date(now() - Number(count) * (UNITS_MS[unit] ?? 0)).toISOString();
};

const ORG_FIELD = 'orgId';

/** Fields that use the flag of a similar field. Their own names are accepted, too. */
const CALLED = new Map([
  ['tag', 'tags'],
  ['org-id', 'org'],
  ['account-id', 'account'],
  ['action-config.reply.preset', 'reply'],
  ['action-config.reply.credential-id', 'reply-credential-id'],
  ['action-config.reply.mode', 'reply-mode'],
  ['action-config.reply.url', 'reply-url'],
]);

/** The organization of a command whose request has no fields of a contract. */
export const orgField: RequestField = {
  path: ORG_FIELD,
  name: 'org',
  longName: 'org-id',
  kind: 'text',
  about:
    'Slug or ID of one of your organizations to act for. If omitted, you act for your own account',
  values: [],
  isNeeded: false,
  isNullable: false,
};

/** A path with the organization, for bodies that are not JSON. */
export const pathInOrg = (path: string, orgId: string | undefined): string =>
  orgId === undefined ? path : `${path}?orgId=${encodeURIComponent(orgId)}`;

/** As a part of the request. */
export const orgInput = ({ orgId }: Record<string, unknown>): { orgId?: string } =>
  typeof orgId === 'string' ? { orgId } : {};

/** Placeholder of the value: `<number>`; undefined for a switch. */
export const placeholder = ({
  path,
  kind,
  values,
  isNullable,
}: RequestField): string | undefined => {
  if (kind === 'flag') return undefined;
  if (path === ORG_FIELD) return '<slug>';
  const none = isNullable ? '|null' : '';
  if (values.length > 0 && values.join('|').length <= 48) return `<${values.join('|')}${none}>`;
  return kind === 'list' ? '<text…>' : `<${kind}${none}>`;
};

/** Names the flag of a field, or of the list that contains it: `to.0` is `--to`. */
export const flagNamer =
  (fields: RequestField[], ownFlags: string[] = []) =>
  (path: string): string => {
    const whole = path.replace(/\.\d+$/, '');
    const field = fields.find((each) => each.path === path || each.path === whole);
    if (field) return `--${field.name}`;
    const own = ownFlags.find(
      (name) => name === whole || `${name}Id` === whole || whole.startsWith(`${name}.`),
    );
    return own === undefined ? path || 'the request' : `--${dashed(own)}`;
  };

/** Converts the typed word to the type of the field. Blanks around one line are removed. */
export const typedValue = (field: RequestField, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  const typed = value.includes('\n') ? value : value.trim();
  if (typed === 'null' && (field.isNullable || field.kind === 'number')) return null;
  if (field.kind === 'number') return numberOr(typed);
  if (isPeriodEdge(field)) return momentOfAge(typed);
  const isJson = field.kind === 'json' || (field.kind === 'name|json' && /^[{@]/.test(typed));
  return isJson ? readJsonFlag(`--${field.name}`, typed) : typed;
};

export interface RequestInput {
  fields: Record<string, unknown>;
  /** `@file`, `-`, or the JSON itself. */
  data?: string;
  /** Values from other sources, such as a secret from a file or an answer to a question. */
  more?: Record<string, unknown>;
}

type RequestSchema<T> = Pick<ObjectSchema<T>, 'validate' | 'describe'>;

/**
 * Builds and validates the request: `--data`, overridden by flags, overridden by `more`. The
 * fault names every invalid field by its flag.
 */
export const requestFrom = async <T>(
  schema: RequestSchema<T>,
  filled: RequestInput,
  at: CommandSetting,
): Promise<T> => {
  const whole: object =
    filled.data === undefined ? {} : await readDataObject(filled.data, at.stdin);
  const typed = [filled.fields, filled.more ?? {}].flatMap((each) => Object.entries(each));
  for (const [path, value] of typed) {
    if (value !== undefined) set(whole, path.split('.'), value);
  }
  const plainly = schema.validate(whole, STRICTLY);
  if (!plainly.error) return plainly.value;
  // Only now, because describing a schema takes longer than validating a request.
  if (filled.data === undefined) makeParts(whole, schema.describe());
  const { value, error } = schema.validate(whole, STRICTLY);
  if (!error) return value;
  const details = error.details.map(({ path, message }) => {
    const dotted = path.join('.');
    const shown = isSecret(filled, dotted) ? '' : input(whole, dotted);
    return { path: dotted, message: `${message}${shown}` };
  });
  throw fieldsFault(details, at);
};

/** Replaces messages of Joi that show a pattern. */
const MESSAGES = {
  'any.required': 'is missing',
  'object.min': 'changes nothing: pass at least one change',
  'string.empty': 'is empty',
  'string.pattern.name': '{#name}',
};

const STRICTLY = { abortEarly: false, errors: { label: false }, messages: MESSAGES } as const;

/** Adds required objects, so that missing fields are named within them. */
const makeParts = (into: object, of: Description): void => {
  const keys: Record<string, Description> = of.keys ?? {};
  for (const [key, inner] of Object.entries(keys)) {
    if (inner.keys && isRequired(inner) && !Reflect.has(into, key)) Reflect.set(into, key, {});
  }
};

/** `@file`, `-` for stdin, or literal JSON. */
const readDataObject = async (data: string, stdin: CommandSetting['stdin']): Promise<object> => {
  const read = data === '-' ? decoded('--data', await buffer(stdin)) : data;
  const value = readJsonFlag('--data', read);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw usageFault('--data must be a JSON object.');
};

const readJsonFlag = (flag: string, typed: string): unknown => {
  const json = typed.startsWith('@') ? decoded(flag, readFlagFile(flag, typed.slice(1))) : typed;
  try {
    return parseExact(json);
  } catch {
    throw usageFault(`${flag} is not valid JSON. Pass JSON, or @file.`);
  }
};

const decoded = (flag: string, bytes: Buffer): string => {
  const text = decodeUnicode(bytes);
  if (text !== null) return text;
  throw usageFault(`The input of ${flag} is not text in UTF-8 or UTF-16. Save it as UTF-8.`);
};

const numberOr = (typed: string): number | string =>
  typed.trim() !== '' && Number.isFinite(Number(typed)) ? Number(typed) : typed;

/** Whether a value is a secret, by its source or name. It is not repeated in an error. */
const isSecret = ({ more = {} }: RequestInput, path: string): boolean =>
  Object.keys(more).some((key) => path === key || path.startsWith(`${key}.`)) ||
  SECRET_NAME.test(path);
const SECRET_NAME = /(?:secret|password|passphrase|token|key|value)$/i;

const input = (whole: object, path: string): string => {
  const value = valueAt(whole, path);
  return value === undefined || typeof value === 'object'
    ? ''
    : ` (got "${oneLine(plainText(value)).slice(0, 60)}")`;
};

const set = (into: object, [key = '', ...rest]: string[], value: unknown): void => {
  const inner: unknown = Reflect.get(into, key);
  if (rest.length === 0) {
    Reflect.set(into, key, value);
  } else if (typeof inner === 'object' && inner !== null) {
    set(inner, rest, value);
  } else {
    const made = {};
    Reflect.set(into, key, made);
    set(made, rest, value);
  }
};

/** Adds the arguments to the fields. Throws if a value is passed both ways. */
export const withArguments = (
  fields: Record<string, unknown>,
  args: object,
): Record<string, unknown> => {
  const input = Object.entries<unknown>({ ...args }).filter(([, value]) => value !== undefined);
  const twice = input.find(([name]) => fields[name] !== undefined)?.[0];
  if (twice)
    throw usageFault(
      `${twice} was passed twice: as an argument and as --${twice}. Pass ${twice} once.`,
    );
  return { ...fields, ...Object.fromEntries(input) };
};

const leaves = (of: Description, path: string[], isNeeded = true): Omit<RequestField, 'name'>[] => {
  const keys: Record<string, Description> | undefined = of.keys;
  if (keys) {
    return Object.entries(keys).flatMap(([key, inner]) =>
      leaves(inner, [...path, key], isNeeded && isRequired(inner)),
    );
  }
  if (isStripped(of)) return [];
  return [
    {
      path: path.join('.'),
      longName: path.map(dashed).join('.'),
      kind: getFieldKind(of),
      about: getFieldDescription(of),
      values: listAllowedValues(wordIn(of) ?? of),
      isNeeded,
      isNullable: (of.allow ?? []).includes(null),
    },
  ];
};

/** Schema of a text that may replace an object. */
const wordIn = ({ matches }: Description): Description | undefined => {
  const options: { schema?: Description }[] = matches ?? [];
  return options.map(({ schema }) => schema).find((schema) => schema?.type === 'string');
};

const listAllowedValues = (of: Description): string[] =>
  isClosed(of) ? (of.allow ?? []).filter((value: unknown) => value !== null) : [];

const getFieldKind = (of: Description): RequestFieldKind => {
  const { type, items } = of;
  if (wordIn(of)) return 'name|json';
  if (type === 'string') return 'text';
  if (type === 'number') return 'number';
  if (type === 'boolean') return 'flag';
  return type === 'array' && items?.[0]?.type === 'string' ? 'list' : 'json';
};

const getFieldDescription = (of: Description): string => {
  const flags: { description?: string } = of.flags ?? {};
  const [example]: unknown[] = of.examples ?? [];
  return flags.description ?? (example === undefined ? '' : `for example ${plainText(example)}`);
};

const flagIn = ({ flags }: Description, name: string): unknown => valueAt(flags, name);
const isClosed = (of: Description): boolean => flagIn(of, 'only') === true;
const isRequired = (of: Description): boolean => flagIn(of, 'presence') === 'required';
export const isStripped = (of: Description): boolean => flagIn(of, 'result') === 'strip';

const getLastSegment = (longName: string): string => longName.split('.').at(-1) ?? longName;

/** `agentPrompt` as `agent-prompt`. */
export const dashed = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type OneArgument<A extends string> = A extends `<${infer N}...>` | `[${infer N}...]`
  ? { [K in N]: string[] }
  : A extends `<${infer N}>`
    ? { [K in N]: string }
    : A extends `[${infer N}]`
      ? { [K in N]?: string }
      : object;

/** Arguments by name: `'<id> [file]'` gives `{ id: string; file?: string }`. */
export type ArgsOf<A extends string> = string extends A
  ? Record<string, string | string[] | undefined>
  : A extends `${infer First} ${infer Rest}`
    ? OneArgument<First> & ArgsOf<Rest>
    : OneArgument<A>;
