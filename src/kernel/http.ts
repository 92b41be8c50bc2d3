import type { Agent } from 'undici';
import { type Clock, systemClock } from './clock.js';
import { collectBody } from './collect.js';
import type { Cookies } from './cookies.js';
import { decodedBody, ENCODINGS } from './decode.js';
import { checkedAddresses, createConnector } from './dial.js';
import { createEgress, type Egress, EgressRefused, hostAndPort, parseUrl } from './egress.js';
import type { HttpReply } from './exchange.js';
import { HttpFailure, type PartialReply } from './failure.js';
import { completeHandshake } from './handshake.js';
import { type Lookup, lookupWithDetail, systemLookup } from './lookup.js';
import { type CallLimits, followRedirects, prepareRequest } from './redirect.js';
import { loadUndici } from './undici.js';

export interface Outgoing extends Partial<CallLimits> {
  method: string;
  url: string;
  /** Connection headers (Host, Content-Length and others) are set by this module only. */
  headers?: Record<string, string>;
  body?: string | Buffer;
  signal?: AbortSignal;
  /** Bytes of the reply body that the caller needs. The rest is dropped. */
  enoughBytes?: number;
  allow?: string[];
  isBound?: boolean;
  isExact?: boolean;
  /** Whether a redirect is not followed that would replace the method by GET and drop the body. */
  keepsMethod?: boolean;
  keepsTls?: boolean;
  /** Whether to decode gzip, deflate and brotli. The byte limit applies before and after. */
  isDecoded?: boolean;
  /** Without it, only the redirects of one request share cookies. */
  cookies?: Cookies;
}

export interface Incoming extends PartialReply {
  url: string;
  notFollowed?: string;
}

export interface OpenedReply extends HttpReply {
  url: string;
}

export type Http = ReturnType<typeof createHttp>;

const forRequests: CallLimits = {
  firstByteMs: 10_000,
  silenceMs: 10_000,
  totalMs: 60_000,
  maxBytes: 5 * 1024 * 1024,
  redirects: 3,
};

const forModels: CallLimits = {
  firstByteMs: 120_000,
  silenceMs: 60_000,
  // A reader that stops must not hold a connection forever.
  totalMs: 1_800_000,
  maxBytes: 64 * 1024 * 1024,
  redirects: 3,
};

/**
 * The only way for the daemon to make outgoing requests. Throws for an invalid entry of `allow`
 * (egressAllow). `nameNote`: appended to name resolution errors.
 */
export const createHttp = (options: {
  allow: string[];
  lookup?: Lookup;
  nameNote?: string | null;
  clock?: Clock;
}) => {
  const { allow, lookup: plain = systemLookup, nameNote = null, clock = systemClock } = options;
  const lookup = lookupWithDetail(plain, nameNote);
  const egress = createEgress(allow);
  const ways = createWays(allow, lookup, clock);

  return {
    shake: (url: string, { allow: extra = [], signal }: Pick<Outgoing, 'allow' | 'signal'>) => {
      const to = createEgress([...allow, ...extra]);
      return completeHandshake(to, lookup, { url: parseUrl(url), signal });
    },
    /**
     * Any status is a reply. Throws EgressRefused, BadUrl, or HttpFailure with the received part.
     */
    request: async (out: Outgoing): Promise<Incoming> => {
      const way = await ways.to(out.allow ?? []);
      const limits = bounded(out, forRequests);
      const { isBound, isExact, keepsMethod, keepsTls, isDecoded, signal, cookies } = out;
      const hop = prepareRequest(requestEncoded(out));
      const bounds = { ...way, limits, isBound, isExact, keepsMethod, keepsTls, signal, cookies };
      const followed = await followRedirects(hop, bounds);
      const { url, notFollowed, ...reply } = followed;
      const contentEncoding = (isDecoded && reply.headers['content-encoding']) || '';
      const encoded = { host: url.hostname, contentEncoding, maxBytes: limits.maxBytes };
      const body = decodedBody(reply.body, encoded);
      return {
        ...(await collectBody({ ...reply, body }, out.enoughBytes)),
        url: url.href,
        ...(notFollowed && { notFollowed: notFollowed.href }),
      };
    },
    /**
     * Reads the body in chunks; the caller reads it to its end or cancels it. Follows redirects to
     * other hosts. Throws like `request`, also within the body.
     */
    open: async (
      out: Omit<Outgoing, 'enoughBytes' | 'isDecoded' | 'cookies'>,
    ): Promise<OpenedReply> => {
      const way = await ways.to(out.allow ?? []);
      const { isBound, isExact, keepsTls, signal } = out;
      const limits = bounded(out, forRequests);
      const bounds = { ...way, limits, isBound, isExact, keepsTls, signal };
      const reply = await followRedirects(prepareRequest(out), bounds);
      return { ...reply, url: reply.url.href };
    },
    /**
     * fetch with streaming for models and MCP servers. Limits: 120 s to the first byte, 60 s of
     * silence, 64 MiB. Reaches only `origin` and egressAllow, also after redirects. `isTrusted`:
     * whether `origin` may be private. Throws like `request`.
     */
    fetchFor: (
      origin: string,
      { isTrusted = true, ...limits }: Partial<CallLimits> & { isTrusted?: boolean } = {},
    ): typeof fetch => {
      const own = [hostAndPort(origin)];
      const open = () => ways.to(isTrusted ? own : []);
      return fetchOver(open, createEgress(own).names, bounded(limits, forModels));
    },
    /**
     * Checks a URL before it is stored. Does not resolve names. Throws EgressRefused and BadUrl.
     */
    check: (url: string): void => egress.check(parseUrl(url)),
    addressesOf: (host: string, port: number, extra: string[] = []): Promise<string[]> =>
      dialableAddresses({ allow: [...allow, ...extra], lookup }, `https://${host}:${port}`),
    close: (): Promise<void> => ways.close(),
  };
};

const dialableAddresses = async (
  { allow, lookup }: { allow: string[]; lookup: Lookup },
  address: string,
): Promise<string[]> => {
  const egress = createEgress(allow);
  const url = parseUrl(address);
  egress.check(url);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return checkedAddresses(egress, lookup, { hostname, port: url.port, protocol: url.protocol });
};

interface CheckedAgent {
  clock: Clock;
  egress: Egress;
  agent: Agent;
}

/**
 * One pool per set of allowed hosts, so that no call reuses a connection that it may not make
 * itself.
 */
const createWays = (allow: string[], lookup: Lookup, clock: Clock) => {
  const ways = new Map<string, Promise<CheckedAgent>>();
  const open = async (extra: string[]): Promise<CheckedAgent> => {
    const egress = createEgress([...allow, ...extra]);
    const { Agent } = await loadUndici();
    const agent = new Agent({ ...pooling, connect: createConnector(egress, lookup) });
    return { clock, egress, agent };
  };
  return {
    to: (extra: string[]) => {
      const key = JSON.stringify(extra.toSorted());
      const way = ways.get(key) ?? open(extra);
      ways.set(key, way);
      return way;
    },
    close: async () => {
      const opened = await Promise.all(ways.values());
      await Promise.all(opened.map(({ agent }) => agent.destroy()));
    },
  };
};

const pooling = {
  maxHeaderSize: 16_384,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 30_000,
  headersTimeout: 0,
  bodyTimeout: 0,
};

const bounded = (wanted: Partial<CallLimits>, usual: CallLimits): CallLimits => ({
  firstByteMs: wanted.firstByteMs ?? usual.firstByteMs,
  silenceMs: wanted.silenceMs ?? usual.silenceMs,
  totalMs: wanted.totalMs ?? usual.totalMs,
  maxBytes: wanted.maxBytes ?? usual.maxBytes,
  redirects: wanted.redirects ?? usual.redirects,
});

const requestEncoded = (out: Outgoing): Outgoing => {
  const asksItself = Object.keys(out.headers ?? {}).some((name) => ofEncoding.test(name));
  if (!out.isDecoded || asksItself) return out;
  return { ...out, headers: { ...out.headers, 'accept-encoding': ENCODINGS } };
};

const ofEncoding = /^(accept-encoding|range)$/i;

const fetchOver =
  (
    open: () => Promise<CheckedAgent>,
    isOwn: (url: URL) => boolean,
    limits: CallLimits,
  ): typeof fetch =>
  async (input, init) => {
    const { clock, egress, agent } = await open();
    const isReachable = (url: URL): boolean => isOwn(url) || egress.names(url);
    const check = (url: URL) => {
      egress.check(url);
      if (!isReachable(url)) throw new EgressRefused(url.hostname, OWN_HOST_ONLY);
    };
    const signal = init?.signal ?? (input instanceof Request ? input.signal : null);
    const hop = prepareRequest(textRequest(input, init) ?? (await wholeRequest(input, init)));
    const reply = await followRedirects(hop, { clock, egress: { check }, agent, limits, signal });
    if (reply.notFollowed) {
      reply.body.cancel();
      const { hostname } = reply.notFollowed;
      const why = isReachable(reply.notFollowed) ? REDIRECTED_AWAY : OWN_HOST_ONLY;
      throw new EgressRefused(hostname, why, true);
    }
    return toResponse(reply);
  };

type FetchInput = Parameters<typeof fetch>[0];

/** Avoids `Request`, whose streams and signals take longer than everything else. */
const textRequest = (input: FetchInput, init: RequestInit = {}): Outgoing | null => {
  const { method, body, headers } = init;
  if (input instanceof Request || typeof body !== 'string' || method !== 'POST') return null;
  const given = valid(input, () => new Headers(headers));
  if (!given.has('content-type')) given.set('content-type', 'text/plain;charset=UTF-8');
  return {
    method,
    url: String(input),
    headers: Object.fromEntries(given),
    body: Buffer.from(body),
  };
};

const wholeRequest = async (input: FetchInput, init?: RequestInit): Promise<Outgoing> => {
  const request = valid(input, () => new Request(input, init));
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    body: request.body ? Buffer.from(await request.arrayBuffer()) : undefined,
  };
};

/** The error of an invalid header quotes it, so the error is replaced. */
const valid = <T>(input: FetchInput, make: () => T): T => {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const url = input instanceof Request ? input.url : String(input);
    const host = URL.canParse(url) ? new URL(url).hostname : 'the URL';
    throw new HttpFailure('invalid_request', { host, effectBegan: false });
  }
};

const OWN_HOST_ONLY =
  'this request may only reach its own host and hosts in the setting egressAllow (ADJUTANT_EGRESS_ALLOW)';

const REDIRECTED_AWAY =
  'it is a redirect target, and requests with a body are not redirected to another origin';

const toResponse = ({ status, headers, body }: HttpReply): Response => {
  // RFC 9110, 15: a status outside the classes is treated as a server error.
  if (!bodiless.has(status))
    return new Response(body.stream(), { status: Math.min(status, 599), headers });
  body.cancel();
  return new Response(null, { status, headers });
};

const bodiless = new Set([204, 205, 304]);
