import type { Incoming } from '../../kernel/http.js';
import { askThroughTunnel } from './question.js';
import { remedies } from './remedies.js';
import { receiverAt, StageFailed, type StepInput, type StepOutcome } from './step.js';

/** Checks that this daemon itself replies: the nonce of this check comes back. */
export const reachUs = async (asking: StepInput): Promise<StepOutcome> => {
  const { probe } = asking;
  const url = receiverAt(asking, probe.open);
  const headers = { 'content-type': 'application/json' };
  const answer = await askThroughTunnel(asking, {
    method: 'POST',
    url,
    headers,
    body: Buffer.from('{}'),
  });
  if (nonceIn(answer) === probe.nonce) {
    return { detail: 'the nonce came back from this daemon', latencyMs: answer.latencyMs };
  }
  const hasArrived = probe.arrivedOn(probe.open) !== null;
  throw hasArrived ? answerLost(asking, answer) : strayed(asking, answer);
};

/** Returns the nonce in the reply to a probe; null if something else replied. */
export const nonceIn = ({ body }: Incoming): string | null =>
  /"deliveryId":"probe_([\w-]+)"/.exec(body.toString())?.[1] ?? null;

/** Describes a reply, as in `502 from Caddy`. */
export const sayAnswer = ({ status, headers: { server } }: Incoming): string =>
  server ? `${status} from ${server.slice(0, 40)}` : `${status}`;

/** Builds the error for a request that never reached the daemon. */
const strayed = (asking: StepInput, answer: Incoming): StageFailed => {
  const { status, headers } = answer;
  const seen = sayAnswer(answer);
  const way = remedies.way(asking);
  if (status >= 300 && status < 400) {
    const cause = `it redirects to ${headers.location?.slice(0, 200)}, and senders do not follow`;
    return new StageFailed(seen, cause, way);
  }
  if (status === 401 || status === 403 || status === 407) {
    return new StageFailed(
      seen,
      'something in front wants a login or a filter refuses',
      remedies.login,
    );
  }
  if (status >= 500) {
    return new StageFailed(seen, `what is in front got no answer from ${asking.upstream}`, way);
  }
  if (status === 404) return new StageFailed(seen, 'the path is not passed on to this daemon', way);
  return new StageFailed(seen, 'another server answers under this name', way);
};

/**
 * Builds the error for a request that reached the daemon but whose reply was changed on the way
 * back.
 */
const answerLost = (asking: StepInput, answer: Incoming): StageFailed =>
  new StageFailed(
    `the probe arrived, and its answer came back as ${sayAnswer(answer)}`,
    'something in front answers in our place',
    remedies.untouched(asking),
  );
