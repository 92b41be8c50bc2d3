import type { UsableCredential } from './vault.js';

/** Returns the reason why a credential may not be sent to an address; null if it may. */
export const hostRefusal = (
  { host, hostname, port, protocol }: URL,
  { name, allowedHosts }: Pick<UsableCredential, 'name' | 'allowedHosts'>,
): string | null => {
  const usual = protocol === 'https:' ? 443 : 80;
  const isNamed = allowedHosts.includes(host) || allowedHosts.includes(`${hostname}:${usual}`);
  if (!isNamed) return `The credential ${name} may not be sent to ${host}: allowedHosts`;
  // Ours: if an agent were talked into http instead of https, anyone on the way could read the
  // value.
  const isMeant = port !== '' || protocol === 'https:' || LOOPBACK.test(hostname);
  if (isMeant || allowedHosts.includes(`${hostname}:${usual}`)) return null;
  return `The credential ${name} is sent to ${host} by https alone: allowedHosts may name ${host}:80`;
};

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
