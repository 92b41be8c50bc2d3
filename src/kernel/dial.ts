import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { type Egress, getUrlPort } from './egress.js';
import { failureKind, HttpFailure } from './failure.js';
import type { Lookup } from './lookup.js';
import { loadUndici } from './undici.js';

/**
 * Resolves the name once, checks every address and connects only to checked ones, which prevents
 * DNS rebinding. undici's `connect.lookup` would not see IP literals.
 */
export const createConnector =
  (egress: Egress, lookup: Lookup): buildConnector.connector =>
  (to, callback) => {
    checkedAddresses(egress, lookup, to)
      .then((addresses) => dial(to, addresses, callback))
      .catch((error: Error) => callback(error, null));
  };

type DialTarget = buildConnector.Options;

export const checkedAddresses = async (
  egress: Egress,
  lookup: Lookup,
  to: Pick<URL, 'hostname' | 'port' | 'protocol'>,
): Promise<string[]> => {
  const host = to.hostname;
  const port = getUrlPort(to);
  const addresses = isIP(host) ? [host] : await resolve(lookup, host);
  for (const address of addresses) egress.checkDial({ host, port, address });
  return addresses;
};

const resolve = async (lookup: Lookup, host: string): Promise<string[]> => {
  try {
    const addresses = await lookup(host);
    if (addresses.length > 0) return addresses;
    throw new Error('The host name has no IP address');
  } catch (cause) {
    if (cause instanceof HttpFailure) throw cause;
    throw new HttpFailure('dns', { host, effectBegan: false, cause });
  }
};

const CONNECT_MS = 10_000;

const dial = async (
  to: DialTarget,
  addresses: string[],
  callback: buildConnector.Callback,
): Promise<void> => {
  const { buildConnector } = await loadUndici();
  const connect = buildConnector({
    lookup: pinned(addresses),
    autoSelectFamily: true,
    timeout: CONNECT_MS,
    // Explicit, so that no environment variable disables it.
    rejectUnauthorized: true,
  });
  connect(to, (error, socket) => {
    if (error) callback(notConnected(to, error), null);
    else callback(null, socket);
  });
};

const pinned =
  (addresses: string[]): LookupFunction =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    );

const notConnected = (to: DialTarget, cause: Error): HttpFailure => {
  const otherwise = to.protocol === 'https:' ? 'tls' : 'unreachable';
  return new HttpFailure(failureKind(cause) ?? otherwise, {
    host: to.hostname,
    effectBegan: false,
    cause,
  });
};
