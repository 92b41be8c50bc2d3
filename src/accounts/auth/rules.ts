import { isLoopbackHost } from '../../kernel/clientaddress.js';
import { networkOf } from '../../kernel/rate.js';

const FREE_TRIES = 5;
/** Ours: limit for tries of one account from one address, right ones included. */
export const TRIES_A_MINUTE = 30;
const MAX_BACKOFF_S = 900;

/** Normalises a name or address for comparison: NFKC, without regard to case. */
export const accountKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/** Makes a name from an e-mail address, for users who register with nothing else. */
export const nameFrom = (email: string): string => {
  const local = email.split('@', 1)[0] ?? '';
  return local
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .slice(0, 40)
    .padEnd(3, '-');
};

/** Returns the seconds to wait after so many failures of one account from one address. */
export const backoffSeconds = (failures: number): number =>
  failures < FREE_TRIES ? 0 : Math.min(MAX_BACKOFF_S, 2 ** (failures - FREE_TRIES));

/** Describes a network in the usual notation: an IPv4 /24, an IPv6 /64. */
export const addressText = (address: string): string => {
  const network = networkOf(address);
  const [, first24] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(network) ?? [];
  return first24 === undefined ? `${network}::/64` : `${first24}.0/24`;
};

/** The first match counts, since most programs name others too. */
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

/**
 * Describes the client's program in fixed words, so that no text from an unauthenticated client
 * gets into a message.
 */
export const clientProgram = (userAgent: string): string => {
  const [, program] = PROGRAMS.find(([pattern]) => pattern.test(userAgent)) ?? [];
  const [, system = ''] = SYSTEMS.find(([pattern]) => pattern.test(userAgent)) ?? [];
  return `${program ?? 'a program that is not known'}${system}`;
};

export interface Exposure {
  registration: 'local' | 'open' | 'invite' | 'closed';
  host: string;
  publicUrl: string | null;
  trustedProxies: string[];
  /** True if a tunnel is set up, whether it is on or off. */
  isTunnelled: boolean;
}

/**
 * Decides if this request may register. `local` is only for this machine itself. It counts as
 * `invite` as soon as another machine could appear to be local: with a public address, a proxy or a
 * wider host.
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

/**
 * Returns true if the first account, which becomes the admin, needs the setup code. This is also so
 * if anybody may register, since an unknown person could be first.
 */
export const firstTakesCode = (exposure: Exposure): boolean =>
  isExposed(exposure) || mayRegister(exposure, true) !== 'yes';

export const isExposed = (of: Omit<Exposure, 'registration'>): boolean =>
  !isLoopbackHost(of.host) ||
  of.publicUrl !== null ||
  of.trustedProxies.length > 0 ||
  of.isTunnelled;
