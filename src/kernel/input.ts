import Boom from '@hapi/boom';
import type { Lifecycle } from '@hapi/hapi';
import Joi, { type ValidationOptions } from 'joi';
import type { Endpoint } from './contract/endpoint.js';
import type { Schema } from './contract/schema.js';
import { isLarger } from './depth.js';
import { LARGE_JSON_BYTES, parseBody } from './json.js';
import type { RunTask } from './pool.js';

export type ParseInWorker = RunTask<{ parse: typeof parseBody }>;

const nothing = Joi.object({}).allow(null).label('Nothing');
const LARGE = 1000;
const UNLABELLED: ValidationOptions = { abortEarly: false, errors: { label: false } };

export const isJson = ({ method, form, rawBytes }: Endpoint): boolean =>
  method !== 'GET' && rawBytes === undefined && !form;

export const readBody =
  (apart: ParseInWorker): Lifecycle.Method =>
  async (request, h) => {
    const { payload: bytes, app, auth } = request;
    if (!Buffer.isBuffer(bytes)) return h.continue;
    const asker = (): string => auth.credentials?.app?.caller.userId ?? app.context.address;
    const isLarge = bytes.length > LARGE_JSON_BYTES;
    const { keepsDigits } = request.route.settings.app?.endpoint?.() ?? {};
    const parsed = isLarge ? await apart(asker(), 'parse', bytes) : parseBody(bytes, keepsDigits);
    if ('fault' in parsed) throw Boom.badRequest(parsed.fault);
    Object.assign(request, { payload: parsed.value });
    return h.continue;
  };

/** hapi creates a new context for each check, so fast endpoints validate in their handler. */
export const inputRules = (endpoint: Endpoint) =>
  endpoint.rawBytes !== undefined
    ? {}
    : { query: queryRule(endpoint), ...(!endpoint.form && bodyRule(endpoint)) };

const queryRule = ({ query, ignoresQuery }: Endpoint) =>
  query ? holding(query) : ignoresQuery ? true : noQuery;

const bodyRule = ({ method, body }: Endpoint) =>
  method === 'GET' ? {} : { payload: createValidator(body ?? nothing) };

/**
 * For a large body only the first error, because collecting a hundred thousand would take seconds.
 */
const createValidator =
  (schema: Schema) =>
  async (body: unknown, options?: ValidationOptions): Promise<unknown> =>
    holding(schema)(body, { ...options, abortEarly: isLarger(body, LARGE) });

/** A function, so that hapi does not inspect the schema, which is then created only on demand. */
const holding =
  (schema: Schema) =>
  async (given: unknown, options?: ValidationOptions): Promise<unknown> => {
    const { value, error } = schema.validate(given, options);
    if (error) throw error;
    return value;
  };

/** joi is skipped without parameters, because it takes as long as a signature. */
const noQuery = async (query: object, options?: ValidationOptions): Promise<object> => {
  if (Object.keys(query).length === 0) return query;
  const { error } = nothing.validate(query, options);
  if (error) throw error;
  return query;
};

/** hapi converts errors to 400 only for its own checks. */
export const refuseQuery = async (query: object): Promise<void> => {
  try {
    await noQuery(query, UNLABELLED);
  } catch (error) {
    throw Joi.isError(error) ? Boom.boomify(error, { statusCode: 400 }) : error;
  }
};
