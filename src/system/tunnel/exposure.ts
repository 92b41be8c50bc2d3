import type { Config } from '../../config.js';
import { hasForwardingHeader, isLoopbackHost } from '../../kernel/clientaddress.js';
import { askThroughTunnel, deliverThroughTunnel, describeReply } from './request.js';
import { remedies, StageFailed, type StageInput, type StageOutcome } from './stage.js';

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
export const checkExposure = async (input: StageInput): Promise<StageOutcome> => {
  const since = performance.now();
  for (const path of CLOSED) await refuseOpen(input, path);
  refuseUnmarked(input);
  await refuseForged(input);
  const latencyMs = (performance.now() - since) / (CLOSED.length + 1);
  const warnings = [...missingAddresses(input), ...input.openings];
  if (warnings.length === 0) {
    return { detail: 'no admin route answers without a login, figures are closed', latencyMs };
  }
  const detail = warnings.map(({ seen, remedy }) => `${seen} (${remedy})`).join('; ');
  return { status: 'warn', detail, latencyMs };
};

const refuseOpen = async (input: StageInput, path: string): Promise<void> => {
  const url = `${input.url.origin}${path}`;
  const reply = await askThroughTunnel(input, { method: 'GET', url, headers: LIES });
  if (reply.status >= 300) return;
  throw new StageFailed({
    seen: `${path} answered ${describeReply(reply)} without a login`,
    cause: 'something in front logs anonymous clients in: it adds a token, or replies from a cache',
    remedy: 'take the Authorization header and caching out of what is in front, then check again',
  });
};

/**
 * Checks that what is in front adds a header of a proxy: the delivery before was sent without one.
 * Otherwise a request from anywhere looks like one of this machine.
 */
const refuseUnmarked = (input: StageInput): void => {
  if (isUnmarked(input, input.probe.signed) !== true) return;
  throw new StageFailed({
    seen: 'the request of this check arrived without a header of a proxy, as one of this machine would',
    cause: 'what is in front passes requests on and adds nothing, as a bare proxy_pass does',
    remedy: remedies.addresses,
  });
};

/**
 * True if the request on that path of the probe arrived without a header of a proxy; null if none
 * arrived, or if the provider adds no header.
 */
export const isUnmarked = (
  { probe, addressHeader }: Pick<StageInput, 'probe' | 'addressHeader'>,
  path: string,
): boolean | null => {
  const arrived = probe.arrivedOn(path);
  if (addressHeader === null || arrived === null) return null;
  return !hasForwardingHeader(arrived.headers);
};

/**
 * Checks that an unauthenticated client cannot choose the address that is used for limits and in
 * the audit log.
 */
const refuseForged = async (input: StageInput): Promise<void> => {
  const { probe } = input;
  await deliverThroughTunnel(input, probe.open, { headers: { 'x-forwarded-for': FORGED } });
  if (probe.arrivedOn(probe.open)?.address !== FORGED) return;
  throw new StageFailed({
    seen: `a forged X-Forwarded-For was believed: the caller passed for ${FORGED}`,
    cause: 'what is in front passes on the addresses that clients claim to have',
    remedy: remedies.addresses,
  });
};

/** Warns if the header that gives the caller's address is missing. */
const missingAddresses = ({ probe, addressHeader }: StageInput): StageInput['openings'] => {
  const arrived = probe.arrivedOn(probe.open);
  if (addressHeader === null || arrived?.headers[addressHeader] !== undefined) return [];
  const seen = `nothing tells the addresses of callers: ${addressHeader} is not set`;
  return [{ seen, remedy: remedies.addresses }];
};

/** Returns the settings that give unauthenticated clients more than they should have. */
export const openingsOf = ({ registration, host, port }: Config): StageInput['openings'] => {
  const registering = {
    seen: 'anybody may make an account',
    remedy: 'unset ADJUTANT_REGISTRATION, then: adjutant restart',
  };
  const listening = {
    seen: `port ${port} answers beyond this machine without TLS`,
    remedy: 'adjutant restart --host 127.0.0.1',
  };
  return [
    ...(registration === 'open' ? [registering] : []),
    ...(isLoopbackHost(host) ? [] : [listening]),
  ];
};
