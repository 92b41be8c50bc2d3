import Boom from '@hapi/boom';
import type { Lifecycle } from '@hapi/hapi';
import Joi, { type ValidationOptions } from 'joi';
import type { Endpoint } from './contract/endpoint.js';
import type { Schema } from './contract/schema.js';
import { isLarger } from './depth.js';
import { LARGE_JSON_BYTES, parseBody } from './json.js';
import type { RunTask } from './pool.js';

/** Runs `parseBody` in a worker thread. */
export type ParseApart = RunTask<{ parse: typeof parseBody }>;

const nothing = Joi.object({}).allow(null).label('Nothing');
/**
 * The number of values in a body up to which all errors are collected. A reply names 20 of them.
 */
const LARGE = 1000;
const UNLABELLED: ValidationOptions = { abortEarly: false, errors: { label: false } };

/** True if the endpoint accepts a JSON body or no body. */
export const isJson = ({ method, form, rawBytes, unbuilt }: Endpoint): boolean =>
  method !== 'GET' && rawBytes === undefined && !form && !unbuilt;

/** Parses the bytes of a body as JSON. A large body is parsed in a worker thread. */
export const readBody =
  (apart: ParseApart): Lifecycle.Method =>
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

/**
 * Returns hapi's validation rules for an endpoint. hapi builds a new context for each check, so
 * endpoints where speed counts validate in their handler.
 */
export const inputRules = (endpoint: Endpoint) =>
  endpoint.unbuilt || endpoint.rawBytes !== undefined
    ? {}
    : { query: queryRule(endpoint), ...(!endpoint.form && bodyRule(endpoint)) };

const queryRule = ({ query, ignoresQuery }: Endpoint) =>
  query ? holding(query) : ignoresQuery ? true : noQuery;

const bodyRule = ({ method, body }: Endpoint) =>
  method === 'GET' ? {} : { payload: checkOf(body ?? nothing) };

/**
 * Returns a rule that reports every error, but only the first error of a large body: to collect a
 * hundred thousand would take seconds.
 */
const checkOf =
  (schema: Schema) =>
  async (body: unknown, options?: ValidationOptions): Promise<unknown> =>
    holding(schema)(body, { ...options, abortEarly: isLarger(body, LARGE) });

/**
 * Returns a rule as a function, so that hapi does not inspect the schema before a request comes and
 * the schema need not be made yet.
 */
const holding =
  (schema: Schema) =>
  async (given: unknown, options?: ValidationOptions): Promise<unknown> => {
    const { value, error } = schema.validate(given, options);
    if (error) throw error;
    return value;
  };

/**
 * Refuses any query parameter. joi runs only if there is something to refuse, because it takes as
 * long as a signature.
 */
const noQuery = async (query: object, options?: ValidationOptions): Promise<object> => {
  if (Object.keys(query).length === 0) return query;
  const { error } = nothing.validate(query, options);
  if (error) throw error;
  return query;
};

/**
 * Refuses any query parameter with status 400. hapi makes this conversion for its own checks only.
 */
export const refuseQuery = async (query: object): Promise<void> => {
  try {
    await noQuery(query, UNLABELLED);
  } catch (error) {
    throw Joi.isError(error) ? Boom.boomify(error, { statusCode: 400 }) : error;
  }
};
