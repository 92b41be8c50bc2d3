import type { UsableCredential } from './vault.js';

/** Null if the credential may be sent to the address. */
export const hostRefusal = (
  { host, hostname, port, protocol }: URL,
  { name, allowedHosts }: Pick<UsableCredential, 'name' | 'allowedHosts'>,
): string | null => {
  const usual = protocol === 'https:' ? 443 : 80;
  const isNamed = allowedHosts.includes(host) || allowedHosts.includes(`${hostname}:${usual}`);
  if (!isNamed)
    return `The credential ${name} may not be sent to ${host}. Add the host to its allowedHosts`;
  // If an agent were talked into using http, anybody on the way could read the value.
  const isMeant = port !== '' || protocol === 'https:' || LOOPBACK.test(hostname);
  if (isMeant || allowedHosts.includes(`${hostname}:${usual}`)) return null;
  return `The credential ${name} may be sent to ${host} only over https. To allow http, add ${host}:80 to its allowedHosts`;
};

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
