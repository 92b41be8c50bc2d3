import { askThroughTunnel, type TimedReply } from './question.js';
import { sayAnswer } from './reach.js';
import { remedies } from './remedies.js';
import { receiverAt, StageFailed, type StepInput, type StepOutcome } from './step.js';

/**
 * Paths that must not be readable without a login; metrics are for this machine or with a token.
 */
const CLOSED = [
  '/api/admin/users',
  '/api/admin/audit',
  '/api/tunnel',
  '/api/vault',
  '/api/hooks',
  '/metrics',
];
/** Address from a documentation network, which no client has. */
const FORGED = '192.0.2.77';
/** Headers of a client that pretends to be on this machine. */
const LIES = { 'x-forwarded-for': FORGED, 'x-real-ip': '127.0.0.1' };

/** Checks that unauthenticated clients can do nothing but deliver and log in. */
export const lookAround = async (asking: StepInput): Promise<StepOutcome> => {
  const since = performance.now();
  for (const path of CLOSED) {
    const url = `${asking.url.origin}${path}`;
    refuseOpen(path, await askThroughTunnel(asking, { method: 'GET', url, headers: LIES }));
  }
  await refuseForged(asking);
  const latencyMs = (performance.now() - since) / (CLOSED.length + 1);
  const warnings = [...untold(asking), ...asking.openings];
  if (warnings.length === 0) {
    return { detail: 'no admin route answers without a login, figures are closed', latencyMs };
  }
  const detail = warnings.map(({ seen, remedy }) => `${seen} (${remedy})`).join('; ');
  return { status: 'warn', detail, latencyMs };
};

const refuseOpen = (path: string, answer: TimedReply): void => {
  if (answer.status >= 300) return;
  throw new StageFailed(
    `${path} answered ${sayAnswer(answer)} without a login`,
    'something in front logs strangers in: it adds a token, or answers from what it kept',
    'take the Authorization header and caching out of what is in front, then check again',
  );
};

/**
 * Checks that an unauthenticated client cannot choose the address that is used for limits and in
 * the audit log.
 */
const refuseForged = async (asking: StepInput): Promise<void> => {
  const { probe } = asking;
  const url = receiverAt(asking, probe.open);
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': FORGED };
  await askThroughTunnel(asking, { method: 'POST', url, headers, body: Buffer.from('{}') });
  if (probe.arrivedOn(probe.open)?.address !== FORGED) return;
  throw new StageFailed(
    `a forged X-Forwarded-For was believed: the caller passed for ${FORGED}`,
    'what is in front passes on the addresses that strangers write',
    remedies.addresses,
  );
};

/** Warns if the header that gives the caller's address is missing. */
const untold = ({ probe, addressHeader }: StepInput) => {
  const arrived = probe.arrivedOn(probe.open);
  if (addressHeader === null || arrived?.headers[addressHeader] !== undefined) return [];
  return [
    {
      seen: `nothing tells the addresses of callers: ${addressHeader} is not set`,
      remedy: remedies.addresses,
    },
  ];
};
