import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { createConnector } from './dial.js';
import { type Egress, getUrlPort } from './egress.js';
import type { Lookup } from './lookup.js';

export type Handshake = Awaited<ReturnType<typeof completeHandshake>>;

export const completeHandshake = async (
  egress: Egress,
  lookup: Lookup,
  { url, signal }: { url: URL; signal?: AbortSignal },
) => {
  egress.check(url);
  const seen = { addresses: [url.hostname], at: performance.now() };
  const since = seen.at;
  const noting: Lookup = async (host) => {
    seen.addresses = await lookup(host);
    seen.at = performance.now();
    return seen.addresses;
  };
  const socket = await connected(createConnector(egress, noting), url, signal);
  const validUntil = socket instanceof TLSSocket ? parseCertificateExpiry(socket) : null;
  socket.destroy();
  return {
    addresses: seen.addresses,
    nameMs: seen.at - since,
    connectMs: performance.now() - seen.at,
    validUntil,
  };
};

const connected = (
  connect: buildConnector.connector,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { hostname, host, protocol } = url;
    connect({ hostname, host, protocol, port: String(getUrlPort(url)) }, (error, socket) => {
      if (error) return reject(error);
      if (!signal?.aborted) return resolve(socket);
      socket.destroy();
      reject(signal.reason);
    });
  });

const parseCertificateExpiry = (socket: TLSSocket): number | null => {
  const end = Date.parse(socket.getPeerCertificate().valid_to);
  return Number.isNaN(end) ? null : end;
};
