import { list, object, optional, text, whole } from './schema.js';

/** The one error body of the API (decisions.md: Everywhere). `code` is stable, for machines. */
export const Problem = object('Problem', {
  statusCode: whole(400, 599),
  error: text(100),
  message: text(2000),
  code: optional(text(60)),
  details: optional(list(object('ProblemDetail', { path: text(500), message: text(1000) }))),
  requestId: text(80),
});

/** Goes into a Boom's data: what its body says beyond the sentence. */
export interface ProblemData {
  code?: string;
  details?: { path: string; message: string }[];
  /** Seconds, sent as Retry-After. */
  retryAfter?: number;
}
