import type { Dispatcher } from 'undici';
import { type Egress, EgressRefused } from './egress.js';
import { dispatchHop, type HttpReply } from './exchange.js';
import { HttpFailure } from './failure.js';
import { elsewhere, type Hop, isRedirect, redirected } from './redirect.js';

/** The limits of one call: times in milliseconds, the body of the reply in bytes. */
export interface CallLimits {
  /**
   * The time until the first byte of the body, or until the end of a reply without one, at each
   * hop.
   */
  firstByteMs: number;
  /** The time between two pieces of the body. */
  silenceMs: number;
  /** The time for everything, including redirects. */
  totalMs: number;
  maxBytes: number;
  /** The most redirects that are followed. With 0 a redirect is a reply like any other. */
  redirects: number;
}

interface Bounds {
  agent: Dispatcher;
  /** The check that throws if a hop must not be made. */
  egress: Pick<Egress, 'check'>;
  limits: CallLimits;
  /**
   * True if a redirect to another origin is not followed. This always applies to a request with a
   * body.
   */
  isBound?: boolean | undefined;
  signal?: AbortSignal | null;
}

/** A reply with the URL that sent it. */
interface FinalReply extends HttpReply {
  url: URL;
  /** The target of a redirect that was not followed because it leaves the origin. */
  notFollowed?: URL;
}

/**
 * Sends a request and follows its redirects. Every hop is checked like the first one. A failure
 * after the first hop states that an effect may have begun. Throws EgressRefused or HttpFailure.
 */
export const followRedirects = async (first: Hop, bounds: Bounds): Promise<FinalReply> => {
  const isBound = bounds.isBound === true || first.body !== null;
  const { redirects, totalMs } = bounds.limits;
  const deadline = performance.now() + totalMs;
  let hop = first;
  for (let count = 0; ; count++) {
    const reply = await send(hop, bounds, deadline).catch((error: unknown) => {
      throw count === 0 ? error : afterEffect(error);
    });
    if (redirects === 0 || !isRedirect(reply)) return { ...reply, url: hop.url };
    const notFollowed = isBound ? elsewhere(hop, reply) : null;
    if (notFollowed) return { ...reply, url: hop.url, notFollowed };
    reply.body.cancel();
    if (count === redirects) throw tooMany(hop.url);
    hop = redirected(hop, reply);
  }
};

const send = async (hop: Hop, bounds: Bounds, deadline: number): Promise<HttpReply> => {
  bounds.egress.check(hop.url);
  return dispatchHop(bounds.agent, hop, { ...bounds.limits, deadline, signal: bounds.signal });
};

const afterEffect = (error: unknown): unknown => {
  if (error instanceof EgressRefused) return new EgressRefused(error.host, error.why, true);
  if (!(error instanceof HttpFailure)) return error;
  return new HttpFailure(error.kind, { host: error.host, effectBegan: true, cause: error.cause });
};

const tooMany = ({ hostname }: URL): HttpFailure =>
  new HttpFailure('too_many_redirects', { host: hostname, effectBegan: true });
