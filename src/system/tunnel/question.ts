import { EgressRefused, portOf } from '../../kernel/egress.js';
import { type FailureKind, HttpFailure } from '../../kernel/failure.js';
import type { Incoming } from '../../kernel/http.js';
import { remedies } from './remedies.js';
import { StageFailed, type StepInput } from './step.js';

export interface ProbeRequest {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

export interface TimedReply extends Incoming {
  latencyMs: number;
}

const PATIENCE_MS = 10_000;
const MOST_BYTES = 65_536;

/** Returns the egress allowance for exactly the public host and port, which may be private. */
export const allowanceOf = (url: URL): string[] => [`${url.hostname}:${portOf(url)}`];

/**
 * Sends one request to the public address. No redirect is followed. Throws StageFailed if no reply
 * came.
 */
export const askThroughTunnel = async (
  asking: StepInput,
  question: ProbeRequest,
): Promise<TimedReply> => {
  const since = performance.now();
  const took = (): number => performance.now() - since;
  try {
    const answer = await asking.http.request({
      ...question,
      allow: allowanceOf(asking.url),
      redirects: 0,
      firstByteMs: PATIENCE_MS,
      totalMs: PATIENCE_MS,
      maxBytes: MOST_BYTES,
    });
    return { ...answer, latencyMs: took() };
  } catch (error) {
    if (error instanceof EgressRefused) {
      throw new StageFailed(error.message, 'this is no address to be reached at', remedies.address);
    }
    if (error instanceof HttpFailure) throw noAnswer(asking, error, took());
    throw error;
  }
};

/** Builds the error for a request that got no reply. */
const noAnswer = (asking: StepInput, { kind, message }: HttpFailure, ms: number): StageFailed => {
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  const said = sayings[kind]?.(seconds, asking.url) ?? {
    seen: `${message} (${seconds})`,
    cause: 'something between is broken',
  };
  return new StageFailed(said.seen, said.cause, remedies.way(asking));
};

type FailureSentence = (seconds: string, url: URL) => { seen: string; cause: string };

const sayings: Partial<Record<FailureKind, FailureSentence>> = {
  refused_connection: (_, { hostname, ...url }) => ({
    seen: `${hostname} refuses connections on port ${portOf({ ...url, protocol: 'https:' })}`,
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
