import Joi from 'joi';
import * as s from '../kernel/contract/schema.js';
import { BadUrl, EgressRefused } from '../kernel/egress.js';
import { HttpFailure } from '../kernel/failure.js';
import { hopHeader } from '../kernel/hops.js';
import type { Http } from '../kernel/http.js';
import { memberAt } from '../kernel/jsonvalue.js';
import { offsetInput, textPart } from './textpart.js';
import {
  defineTool,
  refusal,
  type ToolContext,
  ToolFailed,
  type ToolGroup,
  type ToolIdentity,
} from './tool.js';

export type Requester = Pick<Http, 'request'>;

const MAX_TEXT = 256 * 1024;
/** Characters of an address in an error. */
const MAX_SHOWN = 200;

const input = s.object('HttpRequestInput', {
  method: s.oneOf('HttpMethod', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'),
  url: s.text(8_192).description('http or https address without credentials'),
  headers: s.optional(
    Joi.object<Record<string, string>>()
      .pattern(
        /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/,
        s
          .anyText(8_192)
          .pattern(/^[\t\x20-\x7e\x80-\xff]*$/)
          .messages({ 'string.pattern.base': 'must be Latin-1 without control characters' }),
      )
      .max(50)
      .description('Request headers by name'),
  ),
  body: s.optional(
    s
      .anyText(1_048_576)
      .description('Body text, sent unchanged. For JSON, also set a content-type header.'),
  ),
  offset: offsetInput(),
});

export const httpTools = (http: Requester): ToolGroup => ({
  skillId: 'http',
  description: 'HTTP requests',
  tools: [
    defineTool({
      skillId: 'http',
      name: 'request',
      description:
        'Send one HTTP request. Use it for APIs; use web.read to read a page. Returns { url, status, ' +
        'headers, body }, where url is the final address and body is decoded text (JSON is not ' +
        'parsed). A long body is cut: `truncated: { missingChars, nextOffset }`. With GET, repeat the ' +
        'call with `offset: nextOffset` to read on. Private addresses are refused. If a redirect is ' +
        'not followed, `notFollowed` is its address. Request it if you need it.',
      input,
      sideEffects: true,
      once: false,
      sendsOut: true,
      outside: true,
      isSafe: ({ method }) => isSafeMethod(method),
      failureIn,
      run: async ({ method, url, headers = {}, body, offset }, context, tool) => {
        if (body !== undefined && isSafeMethod(method)) {
          throw refusal(tool, [{ path: 'body', message: `is not allowed with ${method}` }]);
        }
        const isRepeatable = method === 'GET';
        if (offset !== undefined && !isRepeatable) {
          throw refusal(tool, [{ path: 'offset', message: 'is allowed with GET only' }]);
        }
        const out = {
          method,
          url,
          headers: allHeaders(headers, method, context),
          signal: context.signal,
          isDecoded: true,
          ...(body !== undefined && { body }),
          ...(context.holdsSecret && { redirects: 0 }),
          ...(context.isApproved && { isBound: true }),
          ...(context.isByGrant && { isExact: true }),
        };
        const reply = await requestForTool(tool, () => http.request(out), isSafeMethod(method));
        const { url: sentTo, status, notFollowed } = reply;
        const moved = notFollowed === undefined ? {} : { notFollowed };
        const beside = { url: sentTo, status, headers: reply.headers, ...moved };
        const paging = { key: 'body', beside, offset, most: MAX_TEXT, isRepeatable };
        return textPart(new TextDecoder().decode(reply.body), paging, context);
      },
    }),
  ],
});

const failureIn = (result: unknown): string | null => {
  const status = Number(memberAt(result, 'status'));
  const location = memberAt(result, 'notFollowed') ?? memberAt(result, 'headers', 'location');
  if (typeof location === 'string' && status >= 300 && status < 400) {
    return `${status} from the target: a redirect to ${location.slice(0, MAX_SHOWN)}, which this call does not follow`;
  }
  return status >= 400 ? `${status} from the target` : null;
};

const isSafeMethod = (method: unknown): boolean => method === 'GET' || method === 'HEAD';

/**
 * A request with effects carries its ID under both usual names, unless the caller set them, and the
 * hop count, which the caller cannot set.
 */
const allHeaders = (
  headers: Record<string, string>,
  method: string,
  { effectId, hops }: Pick<ToolContext, 'effectId' | 'hops'>,
): Record<string, string> => ({
  ...(!isSafeMethod(method) && { 'webhook-id': effectId, 'idempotency-key': effectId }),
  ...Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  ),
  ...(!isSafeMethod(method) && hopHeader(hops)),
});

/** The address must be the argument `url`. Throws the errors of tools. */
export const requestForTool = async <T>(
  tool: ToolIdentity,
  request: () => Promise<T>,
  isSafe = true,
): Promise<T> => {
  try {
    return await request();
  } catch (error) {
    if (error instanceof BadUrl || (error instanceof EgressRefused && !error.effectBegan)) {
      throw refusal(tool, [{ path: 'url', message: `cannot be used: ${error.message}` }]);
    }
    if (error instanceof HttpFailure || error instanceof EgressRefused) {
      throw new ToolFailed(error.message, error.effectBegan && !isSafe, error);
    }
    throw error;
  }
};
