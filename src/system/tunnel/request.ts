import { EgressRefused, getUrlPort } from '../../kernel/egress.js';
import { type FailureKind, HttpFailure } from '../../kernel/failure.js';
import type { Incoming, Outgoing } from '../../kernel/http.js';
import { remedies, StageFailed, type StageInput } from './stage.js';

export interface TimedReply extends Incoming {
  latencyMs: number;
}

const PATIENCE_MS = 10_000;
const MAX_BYTES = 65_536;

/** The egress allowance for exactly the public host and port, which may be private. */
export const buildEgressAllowance = (url: URL): string[] => [`${url.hostname}:${getUrlPort(url)}`];

/** Follows no redirect. Throws StageFailed if there is no reply. */
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
      allow: buildEgressAllowance(input.url),
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

/** `path` is that of a hook. */
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

/** The daemon sends nothing to such addresses. */
export const refusedAddress = ({ message: seen }: EgressRefused): StageFailed => {
  const cause = 'the address is not a public address';
  return new StageFailed({ seen, cause, remedy: remedies.address });
};

const noReply = (input: StageInput, { kind, message }: HttpFailure, ms: number): StageFailed => {
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  const broken = { seen: `${message} (${seconds})`, cause: 'the connection is broken on the way' };
  const found = explanations[kind]?.(seconds, input.url) ?? broken;
  return new StageFailed({ ...found, remedy: remedies.way(input) });
};

type Explanation = (seconds: string, url: URL) => { seen: string; cause: string };

const explanations: Partial<Record<FailureKind, Explanation>> = {
  refused_connection: (_, url) => ({
    seen: `${url.hostname} refuses connections on port ${getUrlPort(url)}`,
    cause: 'nothing listens on the port, or a firewall refuses connections',
  }),
  reset: (seconds) => ({
    seen: `the connection was closed after ${seconds}, before a reply`,
    cause: 'a proxy closes connections because of a timeout or a filter',
  }),
  timeout: (seconds) => ({
    seen: `no reply within ${seconds}`,
    cause: 'a firewall drops the request, or a proxy waits for a server that does not respond',
  }),
  bad_response: () => ({
    seen: 'the reply is not HTTP',
    cause: 'another service listens on the port, or the reply was truncated',
  }),
  too_large: () => ({ seen: 'the reply is unexpectedly long', cause: 'another server replies' }),
};

/** Such as `502 from Caddy`. */
export const describeReply = ({ status, headers: { server } }: Incoming): string =>
  server ? `${status} from ${server.slice(0, 40)}` : `${status}`;
