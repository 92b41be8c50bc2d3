import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import Bourne from '@hapi/bourne';
import { isTextDeeper } from '../../kernel/depth.js';
import { isRecord, listAt, memberAt, textAt } from '../../kernel/jsonvalue.js';
import { type SharedText, shareText } from '../../kernel/sharedtext.js';
import { type BodyForm, MOST_FORM_FIELDS } from '../senders/recipe.js';
import type { BodyNames } from './headers.js';

const DEEPEST = 64;

/**
 * The body of a delivery as JSON, and the names that a sender may sign. JSON is kept as received. A
 * form is an object of its fields, a list where a name stands several times; or, as GitHub sends it,
 * the JSON in its only field `payload`. Text and XML are one JSON string.
 */
export interface Payload extends BodyNames {
  text: SharedText;
  /** The parsed JSON, unless a worker thread has read it. */
  value?: unknown;
}

/** A payload in the thread that has read it. */
type TextPayload = Payload & { text: string };

/** The way to read a body. */
export interface Reading {
  form: BodyForm;
  /** The places in it that senders name, as `body.event.id`. */
  places: string[];
  /** True if the secret in notifications of Microsoft Graph is left out. */
  hidesState?: boolean;
}

const PLAIN: Reading = { form: 'json', places: [] };

/**
 * Parses a body; returns null if it is not a valid payload. JSON in which senders name places is read
 * as such, whatever its type says, since the type is not signed.
 */
export const readPayload = (
  body: Buffer,
  { form, places, hidesState = false } = PLAIN,
): TextPayload | null => {
  if (!isUtf8(body)) return null;
  const text = body.toString('utf8');
  const value = form === 'json' || places.length > 0 ? parsePayload(text) : null;
  if (value) return named(hidesState ? withoutState(value) : { text, value }, places);
  if (form === 'text') return named({ text: JSON.stringify(text), value: text }, places);
  return form === 'form' ? readForm(text, places) : null;
};

/** Returns notifications of Microsoft Graph without the secret that each holds. */
const withoutState = (value: object): { text: string; value: unknown } => {
  const notifications = listAt(value, 'value').map((each) =>
    isRecord(each) && 'clientState' in each ? { ...each, clientState: '[redacted]' } : each,
  );
  const hidden = notifications.length > 0 ? { ...value, value: notifications } : value;
  return { text: JSON.stringify(hidden), value: hidden };
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
      return typeof found === 'string' || typeof found === 'number' ? [[place, `${found}`]] : [];
    }),
  );

const readForm = (text: string, places: string[]): TextPayload | null => {
  const fields = new Map<string, string | string[]>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > MOST_FORM_FIELDS || name === '__proto__') return null;
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : [before, value].flat());
  }
  const inner = fields.size === 1 ? fields.get('payload') : undefined;
  const json = typeof inner === 'string' ? parsePayload(inner) : null;
  if (typeof inner === 'string' && json) return named({ text: inner, value: json }, places);
  const value = Object.fromEntries(fields);
  return named({ text: JSON.stringify(value), value }, places);
};

/**
 * Does the same and adds the digest of the body: SHA-256, hex. For a body of any size, in a worker
 * thread.
 */
export const readLargePayload = ({
  bytes,
  ...reading
}: Reading & { bytes: Uint8Array }): (Payload & { digest: string }) | null => {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const payload = readPayload(body, reading);
  if (!payload) return null;
  const { value: _, text, ...rest } = payload;
  return { ...rest, text: shareText(text), digest: hash('sha256', body, 'hex') };
};

/**
 * Parses a JSON object or array. Returns null if the text is neither, or is nested over 64 deep. A
 * `__proto__` key makes it invalid, as for every other endpoint: such a key could change the code
 * that reads the value later.
 */
export const parsePayload = (text: string): object | null => {
  if (isTextDeeper(text, DEEPEST)) return null;
  try {
    const value: unknown = Bourne.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
};
