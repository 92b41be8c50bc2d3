import { list, object, optional, text, whole } from './contract/schema.js';

/**
 * The only error body of the API: hapi's own three fields, then ours. `code` is stable, for
 * machines.
 */
export const Problem = object('Problem', {
  statusCode: whole(400, 599),
  error: text(100),
  message: text(2000),
  code: optional(text(60)),
  details: optional(list(object('ProblemDetail', { path: text(500), message: text(1000) }))),
  requestId: text(80),
});

/** A fault in a field of a request. */
export interface FieldFault {
  /** The path with dots: `actionConfig.agentTools.0`. It is empty for the whole body. */
  path: string;
  /** The rest of the sentence that the path begins. */
  message: string;
}

/** Returns the message of a 400 that names every field. */
export const sayFaults = (faults: FieldFault[]): string =>
  `Not accepted: ${faults.map(({ path, message }) => `${path || 'the body'} ${message}`).join('; ')}`;

/** The data of a Boom error: what its body contains beside the message. */
export interface ProblemData {
  code?: string;
  details?: FieldFault[];
  /** Seconds, sent as Retry-After. */
  retryAfter?: number;
}
