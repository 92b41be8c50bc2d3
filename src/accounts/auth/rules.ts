import { isLoopbackHost } from '../../kernel/clientaddress.js';
import { getNetworkPrefix } from '../../kernel/rate.js';

const FREE_TRIES = 5;
/** The limit for attempts on one account from one address, including successful ones. */
export const TRIES_A_MINUTE = 30;
const MAX_BACKOFF_S = 900;

export const accountKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/** For users who register with an e-mail address only. */
export const nameFrom = (email: string): string => {
  const local = email.split('@', 1)[0] ?? '';
  return local
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^org_/i, 'org-')
    .slice(0, 40)
    .padEnd(3, '-');
};

/** `failures`: of one account from one address. */
export const backoffSeconds = (failures: number): number =>
  failures < FREE_TRIES ? 0 : Math.min(MAX_BACKOFF_S, 2 ** (failures - FREE_TRIES));

/** Formats a network in CIDR notation: an IPv4 /24, an IPv6 /64. */
export const addressText = (address: string): string => {
  const network = getNetworkPrefix(address);
  const [, first24] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(network) ?? [];
  return first24 === undefined ? `${network}::/64` : `${first24}.0/24`;
};

/** The first match counts, since most programs also name others. */
const PROGRAMS: [RegExp, string][] = [
  [/^adjutant\b/, 'the command line or the desk'],
  [/\bEdg\w*\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\bChrom\w+\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, ' on Android'],
  [/\biPhone\b/, ' on an iPhone'],
  [/\biPad\b/, ' on an iPad'],
  [/\bWindows\b/, ' on Windows'],
  [/\bMac OS X\b/, ' on a Mac'],
  [/\bLinux\b/, ' on Linux'],
];

/** Uses fixed words, so that no text from an unauthenticated client gets into a message. */
export const clientProgram = (userAgent: string): string => {
  const [, program] = PROGRAMS.find(([pattern]) => pattern.test(userAgent)) ?? [];
  const [, system = ''] = SYSTEMS.find(([pattern]) => pattern.test(userAgent)) ?? [];
  return `${program ?? 'an unknown program'}${system}`;
};

export interface Exposure {
  registration: 'local' | 'open' | 'invite' | 'closed';
  host: string;
  publicUrl: string | null;
  trustedProxies: string[];
  /** True if a tunnel is set up, even if it is off. */
  isTunnelled: boolean;
}

/**
 * `local` counts as `invite` as soon as requests of other machines could appear to be local: with a
 * public address, a proxy, or a host beyond loopback.
 */
export const mayRegister = (
  exposure: Exposure,
  isLocal: boolean,
): 'yes' | 'invite_required' | 'local_only' | 'registration_closed' => {
  if (exposure.registration === 'open') return 'yes';
  if (exposure.registration === 'closed') return 'registration_closed';
  if (exposure.registration === 'invite' || isExposed(exposure)) return 'invite_required';
  return isLocal ? 'yes' : 'local_only';
};

/** Also required if anybody may register, since an unknown person could be first. */
export const requiresSetupCode = (exposure: Exposure): boolean =>
  isExposed(exposure) || mayRegister(exposure, true) !== 'yes';

export const isExposed = (of: Omit<Exposure, 'registration'>): boolean =>
  !isLoopbackHost(of.host) ||
  of.publicUrl !== null ||
  of.trustedProxies.length > 0 ||
  of.isTunnelled;
