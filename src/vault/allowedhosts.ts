import type { Lending } from './vault.js';

/** Why a credential may not be sent to an address; null: it may. */
export const whyNotTo = (
  { host, hostname, port, protocol }: URL,
  { name, allowedHosts }: Pick<Lending, 'name' | 'allowedHosts'>,
): string | null => {
  const usual = protocol === 'https:' ? 443 : 80;
  const isNamed = allowedHosts.includes(host) || allowedHosts.includes(`${hostname}:${usual}`);
  if (!isNamed) return `The credential ${name} may not be sent to ${host}: allowedHosts`;
  // Ours: whoever talks an agent into leaving the s away reads it on the way.
  const isMeant = port !== '' || protocol === 'https:' || LOOPBACK.test(hostname);
  if (isMeant || allowedHosts.includes(`${hostname}:${usual}`)) return null;
  return `The credential ${name} is sent to ${host} by https alone: allowedHosts may name ${host}:80`;
};

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
