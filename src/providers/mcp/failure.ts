import { EgressRefused } from '../../kernel/egress.js';
import { errorReason, HttpFailure } from '../../kernel/failure.js';
import { McpFailed } from './connection.js';
import type { McpSdk } from './sdk.js';

const LONGEST = 500;
/** 404 by the specification, 400 by the servers of the SDK. */
const LOST: unknown[] = [400, 404];

/** Every error of the SDK means that the request failed. */
export const mcpFailure = (sdk: McpSdk, error: unknown, over: string | null): McpFailed => {
  if (over !== null) return new McpFailed('gone', over, error);
  if (error instanceof HttpFailure || error instanceof EgressRefused) {
    return new McpFailed(error.effectBegan ? 'gone' : 'unreached', error.message, error);
  }
  // Platform errors quote their input, including headers.
  if (error instanceof TypeError || error instanceof RangeError) {
    return new McpFailed('wrong', `The request could not be made (${error.name})`);
  }
  const message = cut(errorReason(error));
  if (error instanceof sdk.StreamableHTTPError && LOST.includes(error.code)) {
    return new McpFailed('unreached', `The server rejected the session: ${message}`, error);
  }
  const { McpError, ErrorCode } = sdk.types;
  if (!(error instanceof McpError)) {
    return new McpFailed('wrong', `The server sent an invalid response: ${message}`, error);
  }
  if (error.code === ErrorCode.RequestTimeout) {
    return new McpFailed('silent', 'The server did not respond in time', error);
  }
  const refusals: number[] = [ErrorCode.InvalidParams, ErrorCode.MethodNotFound];
  return new McpFailed(refusals.includes(error.code) ? 'refused' : 'wrong', message, error);
};

const cut = (message: string): string =>
  message.length > LONGEST ? `${message.slice(0, LONGEST)}…` : message;
