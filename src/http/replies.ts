import type Boom from '@hapi/boom';
import Joi from 'joi';
import type { Log } from '../kernel/log.js';
import { type FieldFault, type ProblemData, sayFaults } from '../kernel/problem.js';

const SANE_ID = /^[\w.:-]{1,64}$/;
const MOST_DETAILS = 20;
const LONGEST_DETAIL = 300;

/** The id that the client gave its request, if it is a sane one; else a new one. */
export const requestIdOf = (given: unknown, mint: () => string): string =>
  typeof given === 'string' && SANE_ID.test(given) ? given : mint();

export interface ProblemDeps {
  log: Log;
  /** Errors of the floors below that mean something to a client. */
  translate(error: Error): Boom.Boom | null;
}

/** An error as a client gets it: with the one error body. What nobody foresaw is logged. */
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

/** What hapi says in words of its own. */
const MESSAGES: Record<string, string> = { 'Insufficient scope': 'Only admins may do this' };

const detailsOf = (boom: Boom.Boom): FieldFault[] | undefined => {
  if (!Joi.isError(boom)) return undefined;
  return boom.details.slice(0, MOST_DETAILS).map(({ path, message }) => ({
    path: path.join('.'),
    message: message.slice(0, LONGEST_DETAIL),
  }));
};

/** A reply that has left, as the log has it. */
export interface ReplyLine {
  requestId: string | undefined;
  /** Lower case. */
  method: string;
  path: string;
  status: number;
  /** Milliseconds. */
  ms: number;
  userId?: string | undefined;
}

/**
 * Reading is of little note, and so are deliveries (`isQuiet`): they are in the database, and a line
 * for each would cost more than the work.
 */
export const logReply = (log: Log, isQuiet: boolean, status: number, line: () => ReplyLine) => {
  const level = status >= 500 ? 'warn' : isQuiet ? 'debug' : 'info';
  if (log.isLevelEnabled(level)) log[level](line(), 'request');
};
