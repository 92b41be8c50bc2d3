import type Boom from '@hapi/boom';
import Joi from 'joi';
import type { Log } from '../kernel/log.js';
import { type FieldFault, type ProblemData, sayFaults } from '../kernel/problem.js';

const SANE_ID = /^[\w.:-]{1,64}$/;
const MOST_DETAILS = 20;
const LONGEST_DETAIL = 300;

/** Returns the request id of the client if it is valid, else a new one. */
export const requestIdOf = (given: unknown, mint: () => string): string =>
  typeof given === 'string' && SANE_ID.test(given) ? given : mint();

export interface ProblemDeps {
  log: Log;
  /** Translates errors of lower layers that have a meaning for a client. */
  translate(error: Error): Boom.Boom | null;
}

/** Converts an error to the standard error body. An unexpected error is logged. */
export const problemOf = (
  error: Boom.Boom,
  { requestId, path }: { requestId: string; path: string },
  deps: ProblemDeps,
): Boom.Boom => {
  const boom = error.isServer ? (deps.translate(error) ?? error) : error;
  if (boom.isServer && boom.output.statusCode === 500) {
    deps.log.error({ requestId, path, err: boom }, 'request failed');
  }
  describe(boom, requestId);
  return boom;
};

const describe = (boom: Boom.Boom, requestId: string): void => {
  const data: ProblemData = boom.data ?? {};
  const { statusCode, error } = boom.output.payload;
  const message = MESSAGES[boom.output.payload.message] ?? boom.output.payload.message;
  const details = data.details ?? detailsOf(boom);
  boom.output.payload = {
    statusCode,
    error,
    message: details && !data.details ? sayFaults(details) : message,
    ...(data.code && { code: data.code }),
    ...(details && { details }),
    requestId,
  };
  if (data.retryAfter) boom.output.headers['retry-after'] = String(data.retryAfter);
};

/** Replacements for hapi's own messages. */
const MESSAGES: Record<string, string> = { 'Insufficient scope': 'Only admins may do this' };

const detailsOf = (boom: Boom.Boom): FieldFault[] | undefined => {
  if (!Joi.isError(boom)) return undefined;
  return boom.details.slice(0, MOST_DETAILS).map(({ path, message }) => ({
    path: path.join('.'),
    message: message.slice(0, LONGEST_DETAIL),
  }));
};

/** The log line of a reply that was sent. */
export interface ReplyLine {
  requestId: string | undefined;
  /** Method in lower case. */
  method: string;
  path: string;
  status: number;
  /** Milliseconds. */
  ms: number;
  userId?: string | undefined;
}

/**
 * Logs a reply. Reads and deliveries (`isQuiet`) are logged at a lower level: deliveries are in the
 * database, and a line for each would cost more than the work.
 */
export const logReply = (log: Log, isQuiet: boolean, status: number, line: () => ReplyLine) => {
  const level = status >= 500 ? 'warn' : isQuiet ? 'debug' : 'info';
  if (log.isLevelEnabled(level)) log[level](line(), 'request');
};
