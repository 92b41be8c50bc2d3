import type { Config } from '../../config.js';
import { hasForwardingHeader, isLoopbackHost } from '../../kernel/clientaddress.js';
import { askThroughTunnel, deliverThroughTunnel, describeReply } from './request.js';
import { remedies, StageFailed, type StageInput, type StageOutcome } from './stage.js';

/** Paths that must not be readable without a login from outside. */
const CLOSED = [
  '/api/admin/users',
  '/api/admin/audit',
  '/api/tunnel',
  '/api/vault',
  '/api/hooks',
  '/metrics',
];
/** From a documentation network (RFC 5737), which no client has. */
const FORGED = '192.0.2.77';
/** Headers of a client that pretends to be on this machine. */
const LIES = { 'x-forwarded-for': FORGED, 'x-real-ip': '127.0.0.1' };

/** Checks that unauthenticated clients can only deliver and log in. */
export const checkExposure = async (input: StageInput): Promise<StageOutcome> => {
  const since = performance.now();
  for (const path of CLOSED) await refuseOpen(input, path);
  refuseUnmarked(input);
  await refuseForged(input);
  const latencyMs = (performance.now() - since) / (CLOSED.length + 1);
  const warnings = [...missingAddresses(input), ...input.openings];
  if (warnings.length === 0) {
    return { detail: 'admin routes require a login, and metrics are not public', latencyMs };
  }
  const detail = warnings.map(({ seen, remedy }) => `${seen} (${remedy})`).join('; ');
  return { status: 'warn', detail, latencyMs };
};

const refuseOpen = async (input: StageInput, path: string): Promise<void> => {
  const url = `${input.url.origin}${path}`;
  const reply = await askThroughTunnel(input, { method: 'GET', url, headers: LIES });
  if (reply.status >= 300) return;
  throw new StageFailed({
    seen: `${path} replied with ${describeReply(reply)} without a login`,
    cause: 'a proxy authenticates anonymous clients: it adds a token, or replies from a cache',
    remedy:
      'remove the Authorization header and caching from the proxy configuration, then check again',
  });
};

/** Without a proxy header, a request from anywhere would look like a request of this machine. */
const refuseUnmarked = (input: StageInput): void => {
  if (isUnmarked(input, input.probe.signed) !== true) return;
  throw new StageFailed({
    seen: 'the request of this check arrived without a proxy header, so it looks like a request of this machine',
    cause: 'the proxy forwards requests without adding headers, as a bare proxy_pass does',
    remedy: remedies.addresses,
  });
};

/** Null if no request arrived on the path, or the provider adds no header. */
export const isUnmarked = (
  { probe, addressHeader }: Pick<StageInput, 'probe' | 'addressHeader'>,
  path: string,
): boolean | null => {
  const arrived = probe.arrivedOn(path);
  if (addressHeader === null || arrived === null) return null;
  return !hasForwardingHeader(arrived.headers);
};

/** An unauthenticated client must not choose the address that limits and the audit log use. */
const refuseForged = async (input: StageInput): Promise<void> => {
  const { probe } = input;
  await deliverThroughTunnel(input, probe.open, { headers: { 'x-forwarded-for': FORGED } });
  if (probe.arrivedOn(probe.open)?.address !== FORGED) return;
  throw new StageFailed({
    seen: `a forged X-Forwarded-For was accepted: the client appeared as ${FORGED}`,
    cause: 'the proxy forwards the address headers of clients',
    remedy: remedies.addresses,
  });
};

const missingAddresses = ({ probe, addressHeader }: StageInput): StageInput['openings'] => {
  const arrived = probe.arrivedOn(probe.open);
  if (addressHeader === null || arrived?.headers[addressHeader] !== undefined) return [];
  const seen = `client addresses are unknown: ${addressHeader} is not set`;
  return [{ seen, remedy: remedies.addresses }];
};

/** Settings that give unauthenticated clients more access than they should have. */
export const findOpenings = ({ registration, host, port }: Config): StageInput['openings'] => {
  const registering = {
    seen: 'anybody can create an account',
    remedy: 'unset ADJUTANT_REGISTRATION, then: adjutant restart',
  };
  const listening = {
    seen: `port ${port} is reachable from other machines without TLS`,
    remedy: 'adjutant restart --host 127.0.0.1',
  };
  return [
    ...(registration === 'open' ? [registering] : []),
    ...(isLoopbackHost(host) ? [] : [listening]),
  ];
};
