import { EgressRefused, portOf } from '../../kernel/egress.js';
import { type FailureKind, HttpFailure } from '../../kernel/failure.js';
import type { Incoming, Outgoing } from '../../kernel/http.js';
import { remedies, StageFailed, type StageInput } from './stage.js';

export interface TimedReply extends Incoming {
  latencyMs: number;
}

const PATIENCE_MS = 10_000;
const MAX_BYTES = 65_536;

/** Returns the egress allowance for exactly the public host and port, which may be private. */
export const allowanceOf = (url: URL): string[] => [`${url.hostname}:${portOf(url)}`];

/**
 * Sends one request to the public address. No redirect is followed. Throws StageFailed if no reply
 * came.
 */
export const askThroughTunnel = async (
  input: StageInput,
  request: Pick<Outgoing, 'method' | 'url' | 'headers' | 'body'>,
): Promise<TimedReply> => {
  const since = performance.now();
  const took = (): number => performance.now() - since;
  const { replyMs = PATIENCE_MS } = input;
  try {
    const reply = await input.http.request({
      ...request,
      allow: allowanceOf(input.url),
      redirects: 0,
      firstByteMs: replyMs,
      totalMs: replyMs,
      maxBytes: MAX_BYTES,
    });
    return { ...reply, latencyMs: took() };
  } catch (error) {
    if (error instanceof EgressRefused) throw refusedAddress(error);
    if (error instanceof HttpFailure) throw noReply(input, error, took());
    throw error;
  }
};

/** Sends a body to a path of the receiver. */
export const deliverThroughTunnel = (
  input: StageInput,
  path: string,
  { headers = {}, body = '{}' }: Pick<Outgoing, 'headers' | 'body'> = {},
): Promise<TimedReply> =>
  askThroughTunnel(input, {
    method: 'POST',
    url: `${input.url.origin}/api/webhooks/${path}`,
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });

/** Builds the error for an address to which the daemon sends nothing. */
export const refusedAddress = ({ message: seen }: EgressRefused): StageFailed => {
  const cause = 'this is no address to be reached at';
  return new StageFailed({ seen, cause, remedy: remedies.address });
};

/** Builds the error for a request that got no reply. */
const noReply = (input: StageInput, { kind, message }: HttpFailure, ms: number): StageFailed => {
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  const broken = { seen: `${message} (${seconds})`, cause: 'something between is broken' };
  const found = explanations[kind]?.(seconds, input.url) ?? broken;
  return new StageFailed({ ...found, remedy: remedies.way(input) });
};

type Explanation = (seconds: string, url: URL) => { seen: string; cause: string };

const explanations: Partial<Record<FailureKind, Explanation>> = {
  refused_connection: (_, url) => ({
    seen: `${url.hostname} refuses connections on port ${portOf(url)}`,
    cause: 'nothing listens there, or a firewall refuses',
  }),
  reset: (seconds) => ({
    seen: `the connection was cut after ${seconds}, before an answer`,
    cause: 'something in front ends connections: a time-out, or a filter',
  }),
  timeout: (seconds) => ({
    seen: `no answer within ${seconds}`,
    cause: 'a firewall swallows it, or something in front waits for nobody',
  }),
  bad_response: () => ({
    seen: 'what came back is not HTTP',
    cause: 'another service listens there, or an answer was cut off in the middle',
  }),
  too_large: () => ({ seen: 'a long page came back', cause: 'another server answers there' }),
};

/** Describes a reply, as in `502 from Caddy`. */
export const describeReply = ({ status, headers: { server } }: Incoming): string =>
  server ? `${status} from ${server.slice(0, 40)}` : `${status}`;
