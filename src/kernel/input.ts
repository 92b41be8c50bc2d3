import Boom from '@hapi/boom';
import type { Lifecycle } from '@hapi/hapi';
import Joi, { type ValidationOptions } from 'joi';
import type { Endpoint } from './contract/endpoint.js';
import type { Schema } from './contract/schema.js';
import { isLarger } from './depth.js';
import { LARGE_JSON_BYTES, parseBody } from './json.js';
import type { RunTask } from './pool.js';

/** A worker thread that parses JSON. */
export type ParseApart = RunTask<{ parse: typeof parseBody }>;

const nothing = Joi.object({}).allow(null).label('Nothing');
/** Values in a body of which all errors are looked for; a reply names 20. */
const LARGE = 1000;
const UNLABELLED: ValidationOptions = { abortEarly: false, errors: { label: false } };

/** Whether the endpoint takes JSON, or nothing. */
export const isJson = ({ method, rawBytes, unbuilt }: Endpoint): boolean =>
  method !== 'GET' && rawBytes === undefined && !unbuilt;

/** Makes JSON of the body's bytes; what is large is parsed in a worker thread. */
export const readBody =
  (apart: ParseApart): Lifecycle.Method =>
  async (request, h) => {
    const { payload: bytes, app, auth } = request;
    if (!Buffer.isBuffer(bytes)) return h.continue;
    const asker = (): string => auth.credentials?.app?.caller.userId ?? app.visit.address;
    const isLarge = bytes.length > LARGE_JSON_BYTES;
    const parsed = isLarge ? await apart(asker(), 'parse', bytes) : parseBody(bytes);
    if ('fault' in parsed) throw Boom.badRequest(parsed.fault);
    Object.assign(request, { payload: parsed.value });
    return h.continue;
  };

/** hapi makes its context for a check anew each time: where speed counts, the handler does it. */
export const inputRules = (endpoint: Endpoint) =>
  endpoint.unbuilt || endpoint.rawBytes !== undefined
    ? {}
    : { query: queryRule(endpoint), ...bodyRule(endpoint) };

const queryRule = ({ query, ignoresQuery }: Endpoint) =>
  query ? holding(query) : ignoresQuery ? true : noQuery;

const bodyRule = ({ method, body }: Endpoint) =>
  method === 'GET' ? {} : { payload: checkOf(body ?? nothing) };

/** Every error is named, but of a large body the first alone: a hundred thousand would take seconds. */
const checkOf =
  (schema: Schema) =>
  async (body: unknown, options?: ValidationOptions): Promise<unknown> =>
    holding(schema)(body, { ...options, abortEarly: isLarger(body, LARGE) });

/** A rule that hapi asks nothing of before a request comes, so that its schema need not be made yet. */
const holding =
  (schema: Schema) =>
  async (given: unknown, options?: ValidationOptions): Promise<unknown> => {
    const { value, error } = schema.validate(given, options);
    if (error) throw error;
    return value;
  };

/** joi is asked only where there is something to refuse: it takes as long as a signature. */
const noQuery = async (query: object, options?: ValidationOptions): Promise<object> => {
  if (Object.keys(query).length === 0) return query;
  const { error } = nothing.validate(query, options);
  if (error) throw error;
  return query;
};

/** hapi makes bad requests of what its own checks throw; here nobody else does. */
export const refuseQuery = async (query: object): Promise<void> => {
  try {
    await noQuery(query, UNLABELLED);
  } catch (error) {
    throw Joi.isError(error) ? Boom.boomify(error, { statusCode: 400 }) : error;
  }
};
