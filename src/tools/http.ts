import Joi from 'joi';
import { anyText, object, oneOf, optional, text } from '../kernel/contract/schema.js';
import { BadUrl, EgressRefused } from '../kernel/egress.js';
import { HttpFailure } from '../kernel/failure.js';
import { hopsOnward } from '../kernel/loop.js';
import {
  defineTool,
  refusal,
  type Tool,
  type ToolContext,
  ToolFailed,
  type ToolGroup,
} from './tool.js';

/**
 * The guarded HTTP client, as far as tools need it. Throws BadUrl, EgressRefused and HttpFailure.
 */
export interface Requester {
  request(out: {
    method: string;
    url: string;
    headers: Record<string, string>;
    body?: string;
    signal: AbortSignal;
    /** The most redirects that are followed. */
    redirects?: number;
    /** Addresses, as host:port, that may be reached although they are private. */
    allow?: string[];
    /** True if no redirect to another origin is followed, as with a body. */
    isBound?: boolean;
  }): Promise<{
    status: number;
    headers: Record<string, string>;
    body: Buffer;
    url: string;
    notFollowed?: string;
  }>;
}

const MAX_TEXT_BYTES = 256 * 1024;
const names = { skillId: 'http', name: 'request' };

const input = object('HttpRequestInput', {
  method: oneOf('HttpMethod', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'),
  url: text(8_192).description('An http or https address without credentials in it'),
  headers: optional(
    Joi.object<Record<string, string>>()
      .pattern(
        /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/,
        anyText(8_192)
          .pattern(/^[\t\x20-\x7e\x80-\xff]*$/)
          .messages({ 'string.pattern.base': 'must be Latin-1 without control characters' }),
      )
      .max(50)
      .description('Request headers by name'),
  ),
  body: optional(
    anyText(1_048_576).description('Sent as it is; for JSON give its text and a content-type'),
  ),
});

export const httpTools = (http: Requester): ToolGroup => ({
  skillId: 'http',
  description: 'Requests to web services',
  tools: [
    defineTool({
      ...names,
      description:
        'Sends one HTTP request and returns { url, status, headers, body }, url being where it was ' +
        'sent. The body is text, JSON left unparsed; beyond 256 KiB it is cut, and `truncated: true` ' +
        'says so. Private addresses are refused. With a body, or approved, it follows no redirect ' +
        'to another host: `notFollowed` says where that led.',
      input,
      sideEffects: true,
      once: false,
      sendsOut: true,
      outside: true,
      isSafe: ({ method }) => isSafeMethod(method),
      run: async ({ method, url, headers, body }, { signal, ...context }) => {
        if (body !== undefined && isSafeMethod(method)) {
          throw refusal(names, [{ path: 'body', message: `is not allowed with ${method}` }]);
        }
        const sent = { effectId: context.effectId, hops: context.hops };
        const out = {
          ...{ method, url, headers: allHeaders(headers ?? {}, method, sent), signal },
          ...(context.holdsSecret && { redirects: 0 }),
          ...(context.isApproved && { isBound: true }),
        };
        const reply = await reaching(
          names,
          () => http.request(body === undefined ? out : { ...out, body }),
          isSafeMethod(method),
        );
        const { url: sentTo, status, notFollowed } = reply;
        return {
          ...{ url: sentTo, status, headers: reply.headers, ...textOf(reply.body) },
          ...(notFollowed !== undefined && { notFollowed }),
        };
      },
    }),
  ],
});

const isSafeMethod = (method: unknown): boolean => method === 'GET' || method === 'HEAD';

/**
 * Returns all headers of a request. A request with effects carries its ID under both usual names,
 * unless the caller set them. It also carries the hop count of its cause, which the caller cannot
 * set.
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
  ...(!isSafeMethod(method) && hopsOnward(hops)),
});

/** Runs a request for a tool, whose argument `url` is the address. Throws the errors of tools. */
export const reaching = async <T>(
  tool: Pick<Tool, 'skillId' | 'name'>,
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

const textOf = (body: Buffer): { body: string; truncated?: true } => {
  const isCut = body.length > MAX_TEXT_BYTES;
  const decoder = new TextDecoder();
  const cut = decoder.decode(body.subarray(0, MAX_TEXT_BYTES), { stream: isCut });
  return isCut ? { body: cut, truncated: true } : { body: cut };
};
