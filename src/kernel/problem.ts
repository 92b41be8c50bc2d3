import { integer, list, object, optional, text } from './contract/schema.js';

/** The only error body of the API. `code` is stable, for programs. */
export const Problem = object('Problem', {
  statusCode: integer(400, 599),
  error: text(100),
  message: text(2000),
  code: optional(text(60)),
  details: optional(list(object('ProblemDetail', { path: text(500), message: text(1000) }))),
  requestId: text(80),
});

/** Error body of SCIM (RFC 7644, 3.12). */
export const ScimError = object('ScimError', {
  schemas: list(text(100)),
  status: text(3),
  scimType: optional(text(20)),
  detail: text(2000),
});

export interface FieldFault {
  /** With dots: `actionConfig.agentTools.0`. Empty for the whole body. */
  path: string;
  /** Continues the sentence that starts with the path. */
  message: string;
}

export const faultsMessage = (faults: FieldFault[]): string =>
  `Invalid request: ${faults.map(({ path, message }) => `${path || 'the body'} ${message}`).join('; ')}`;

export interface ProblemData {
  code?: string;
  details?: FieldFault[];
  retryAfter?: number;
  /** Kind of an error of SCIM (RFC 7644, 3.12). */
  scimType?: string;
}
