import type Boom from '@hapi/boom';
import Joi from 'joi';
import type { Log } from '../kernel/log.js';
import { type FieldFault, faultsMessage, type ProblemData } from '../kernel/problem.js';

const SANE_ID = /^[\w.:-]{1,64}$/;
const MAX_DETAILS = 20;
const MAX_DETAIL_LENGTH = 300;

export const resolveRequestId = (given: unknown, mint: () => string): string =>
  typeof given === 'string' && SANE_ID.test(given) ? given : mint();

export interface ProblemDeps {
  log: Log;
  translate(error: Error): Boom.Boom | null;
}

export const toProblemBoom = (
  error: Boom.Boom,
  { requestId, path }: { requestId: string; path: string },
  deps: ProblemDeps,
): Boom.Boom => {
  const boom = error.isServer ? (deps.translate(error) ?? error) : error;
  if (boom.isServer && boom.output.statusCode === 500) {
    deps.log.error({ requestId, path, err: boom }, 'request failed');
  }
  addProblem(boom, requestId);
  return boom;
};

export const addProblem = (boom: Boom.Boom, requestId: string): void => {
  const data: ProblemData = boom.data ?? {};
  const { statusCode, error } = boom.output.payload;
  const message = MESSAGES[boom.output.payload.message] ?? boom.output.payload.message;
  const details = data.details ?? toFieldFaults(boom);
  boom.output.payload = {
    statusCode,
    error,
    message: details && !data.details ? faultsMessage(details) : message,
    ...(data.code && { code: data.code }),
    ...(details && { details }),
    requestId,
  };
  if (data.retryAfter) boom.output.headers['retry-after'] = String(data.retryAfter);
};

/** RFC 7644, 3.12. */
export const toScimError = (boom: Boom.Boom): void => {
  const { scimType }: ProblemData = boom.data ?? {};
  const { statusCode, message } = boom.output.payload;
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error'];
  const body = { schemas, status: String(statusCode), scimType, detail: message };
  Object.assign(boom.output, { payload: body });
  boom.output.headers['content-type'] = 'application/scim+json';
};

export const problemHeaders = (requestId: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': requestId,
  connection: 'close',
});

export const rawReply = (
  { statusCode, payload }: Boom.Output,
  headers: Record<string, unknown>,
): string => {
  const body = JSON.stringify(payload);
  const lines = Object.entries({
    ...problemHeaders(String(payload.requestId)),
    ...headers,
    'content-length': Buffer.byteLength(body),
  }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${statusCode} ${payload.error}`, ...lines, '', body].join('\r\n');
};

/** Replacements for hapi's own messages. */
const MESSAGES: Record<string, string> = {
  'Insufficient scope': 'This action requires the admin role',
};

const toFieldFaults = (boom: Boom.Boom): FieldFault[] | undefined => {
  if (!Joi.isError(boom)) return undefined;
  return boom.details.slice(0, MAX_DETAILS).map(({ path, message }) => ({
    path: path.join('.'),
    message: message.slice(0, MAX_DETAIL_LENGTH),
  }));
};

/**
 * Reads and deliveries (`isQuiet`) use a lower level, because logging each would cost more than the
 * work.
 */
export const logReply = (log: Log, isQuiet: boolean, status: number, line: () => object) => {
  const level = status >= 500 ? 'warn' : isQuiet ? 'debug' : 'info';
  if (log.isLevelEnabled(level)) log[level](line(), 'request');
};
