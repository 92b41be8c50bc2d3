import Boom from '@hapi/boom';
import Bourne from '@hapi/bourne';
import Joi from 'joi';
import {
  anyText,
  id,
  json,
  list,
  object,
  oneOf,
  optional,
  type Schema,
  type Static,
  text,
} from '../../kernel/contract/schema.js';

export interface Frame extends Record<string, unknown> {
  type: string;
}
type FrameId = string | number;

const frameId = Joi.alternatives<FrameId>(text(64), Joi.number());
const channels = list(anyText(100), 50).min(1);
const content = { content: text(65_536), sessionId: optional(id('session')) };

const frame = <const T extends string, K extends Record<string, Schema>>(type: T, keys: K) =>
  object(type, { type: oneOf(type, type), ...keys });

const plainFrames = {
  subscribe: frame('subscribe', { channels, id: optional(frameId) }),
  unsubscribe: frame('unsubscribe', { channels, id: optional(frameId) }),
  message: frame('message', { ...content, id: optional(frameId) }),
};

/** Without nes's `request`: no HTTP over the socket. */
const nesFrames = {
  hello: frame('hello', {
    id: frameId,
    version: text(10),
    subs: optional(list(anyText(100), 50)),
    auth: optional(json()),
  }),
  sub: frame('sub', { id: frameId, path: anyText(100) }),
  unsub: frame('unsub', { id: frameId, path: anyText(100) }),
  message: frame('message', { id: frameId, message: object('body', content) }),
  reauth: frame('reauth', {
    id: frameId,
    auth: object('auth', {
      headers: object('headers', { authorization: text(5000) }).unknown(true),
    }),
  }),
  ping: frame('ping', { id: frameId }),
};

export type PlainFrame = Static<(typeof plainFrames)[keyof typeof plainFrames]>;
export type NesFrame = Static<(typeof nesFrames)[keyof typeof nesFrames]>;

/** Throws 400 if the text is not JSON, not an object, or has no type. */
export const readFrame = (text: string): Frame => {
  const value = parse(text);
  if (!isFrame(value)) throw Boom.badRequest('A frame must be a JSON object with a string "type"');
  return value;
};

export const checkPlain = (frame: Frame): PlainFrame => check(plainFrames, frame);

/** Throws 400 as for plain clients, and 501 for a `request`. */
export const checkNes = (frame: Frame): NesFrame => {
  if (frame.type === 'request') {
    throw Boom.notImplemented(
      'HTTP requests over the WebSocket are not supported. Send the request to the HTTP API',
    );
  }
  return check(nesFrames, frame);
};

export const requestIdOfFrame = (frame: Frame | undefined): FrameId | undefined => {
  const { value, error } = frameId.validate(frame?.id, { convert: false });
  return error ? undefined : value;
};

const parse = (text: string): unknown => {
  try {
    return Bourne.parse(text);
  } catch {
    throw Boom.badRequest('The frame is not valid JSON, or has a key "__proto__"');
  }
};

const isFrame = (value: unknown): value is Frame =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const check = <K extends Record<string, Schema>>(schemas: K, frame: Frame): Static<K[keyof K]> => {
  const schema = Object.hasOwn(schemas, frame.type) ? schemas[frame.type] : undefined;
  if (!schema)
    throw Boom.badRequest(`Unknown type. Known types: ${Object.keys(schemas).join(', ')}`);
  const { value, error } = schema.validate(frame, { convert: false });
  // The message may quote a long key from the client.
  if (error) throw Boom.badRequest(error.message.slice(0, 200));
  return value;
};
