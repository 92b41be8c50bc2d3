import { hash } from 'node:crypto';
import Bourne from '@hapi/bourne';
import {
  type BodyFault,
  bodyText,
  EMPTY_BODY,
  formFields,
  isBodyFault,
} from '../../kernel/bodytext.js';
import {
  isExactNumber,
  parseWithDigits,
  scanJson,
  stringifyExact,
} from '../../kernel/exactjson.js';
import {
  isJsonText,
  isRecord,
  listAt,
  memberAt,
  textAt,
  withoutMark,
} from '../../kernel/jsonvalue.js';
import { type SharedText, shareText } from '../../kernel/sharedtext.js';
import { type BodyForm, MAX_FORM_FIELDS } from '../senders/recipe.js';
import type { BodyNames } from './headers.js';

const MAX_DEPTH = 64;

/**
 * The body as JSON. JSON is kept as received. A form becomes an object, with a list for repeated
 * names; if its only field is `payload` (GitHub), it is the JSON in that field. Text and XML become
 * a JSON string.
 */
export interface Payload extends BodyNames {
  text: SharedText;
  /** Undefined if a worker thread has parsed it. */
  value?: unknown;
}

type TextPayload = Payload & { text: string };

export interface PayloadFormat {
  form: BodyForm;
  charset?: string | null;
  places: string[];
  hidesState?: boolean;
}

const TOO_DEEP: BodyFault = {
  fault: 'not_json',
  message: `The JSON is nested more than ${MAX_DEPTH} levels deep`,
};
const NOT_JSON: BodyFault = { fault: 'not_json', message: 'The body is not valid JSON' };
const PROTO_KEY: BodyFault = {
  fault: 'not_json',
  message: 'The JSON must not have a key named __proto__',
};
const NOT_OBJECT: BodyFault = {
  fault: 'not_json',
  message: 'The JSON must be an object or an array',
};
const TOO_MANY_FIELDS: BodyFault = {
  fault: 'form',
  message: `The form has more than ${MAX_FORM_FIELDS} fields`,
};
const PROTO_FIELD: BodyFault = {
  fault: 'form',
  message: 'The form must not have a field named __proto__',
};

const PLAIN: PayloadFormat = { form: 'json', places: [] };

/**
 * The media type is not signed. So if the sender reads fields from the body, the body must be JSON.
 */
export const readPayload = (
  body: Buffer,
  { form, charset = null, places, hidesState = false } = PLAIN,
): TextPayload | BodyFault => {
  if (form === 'form' && places.length === 0) return readForm(body, charset, places);
  const text = bodyText(body, charset);
  if (typeof text !== 'string') return text;
  if (form === 'json' || places.length > 0) {
    const json = parsePayload(text);
    if ('value' in json) {
      const { value } = json;
      return named(hidesState ? withoutState(value) : { text, value }, places);
    }
    if (form === 'json') return json;
  }
  if (form === 'text') return named({ text: JSON.stringify(text), value: text }, places);
  return readForm(body, charset, places);
};

const withoutState = (value: object): { text: string; value: unknown } => {
  const notifications = listAt(value, 'value').map((each) =>
    isRecord(each) && 'clientState' in each ? { ...each, clientState: '[redacted]' } : each,
  );
  const hidden = notifications.length > 0 ? { ...value, value: notifications } : value;
  return { text: stringifyExact(hidden) ?? '', value: hidden };
};

const named = (read: { text: string; value: unknown }, places: string[]): TextPayload => {
  const { text, value } = read;
  const payload: TextPayload = {
    text,
    value,
    id: textAt(value, 'id'),
    type: textAt(value, 'type'),
  };
  if (places.length > 0) payload.at = textsAt(value, places);
  return payload;
};

const textsAt = (value: unknown, places: string[]): Record<string, string> =>
  Object.fromEntries(
    places.flatMap((place) => {
      const found = memberAt(value, ...place.split('.').slice(1));
      const isNamed =
        typeof found === 'string' || typeof found === 'number' || isExactNumber(found);
      return isNamed ? [[place, `${found}`]] : [];
    }),
  );

const readForm = (
  body: Buffer,
  charset: string | null,
  places: string[],
): TextPayload | BodyFault => {
  if (body.length === 0) return EMPTY_BODY;
  const given = formFields(body, charset);
  if (isBodyFault(given)) return given;
  const fields = new Map<string, string | string[]>();
  let count = 0;
  for (const [name, value] of given) {
    if (++count > MAX_FORM_FIELDS) return TOO_MANY_FIELDS;
    if (name === '__proto__') return PROTO_FIELD;
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : [before, value].flat());
  }
  const inner = fields.size === 1 ? fields.get('payload') : undefined;
  const text = typeof inner === 'string' ? withoutMark(inner) : null;
  const json = text === null ? null : parsePayload(text);
  if (text !== null && json && 'value' in json) return named({ text, value: json.value }, places);
  const value = Object.fromEntries(fields);
  return named({ text: JSON.stringify(value), value }, places);
};

export const readLargePayload = ({
  bytes,
  ...reading
}: PayloadFormat & { bytes: Uint8Array }): (Payload & { digest: string }) | BodyFault => {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const payload = readPayload(body, reading);
  if (isBodyFault(payload)) return payload;
  const { value: _, text, ...rest } = payload;
  return { ...rest, text: shareText(text), digest: hash('sha256', body, 'hex') };
};

/**
 * Nested at most 64 levels deep, with numbers as received. A `__proto__` key is invalid, because it
 * could change the code that reads the value later.
 */
export const parsePayload = (text: string): { value: object } | BodyFault => {
  const { isDeep, isExact } = scanJson(text, MAX_DEPTH);
  if (isDeep) return TOO_DEEP;
  try {
    const parsed: unknown = Bourne.parse(text);
    const value = isExact ? parsed : parseWithDigits(text);
    return typeof parsed === 'object' && value instanceof Object ? { value } : NOT_OBJECT;
  } catch {
    return isJsonText(text) ? PROTO_KEY : NOT_JSON;
  }
};
