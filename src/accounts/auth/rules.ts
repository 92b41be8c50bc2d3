import { isLoopbackHost } from '../../kernel/clientaddress.js';
import { networkOf } from '../../kernel/rate.js';

const FREE_TRIES = 5;
/** Ours: of one account from one address, right ones too. */
export const TRIES_A_MINUTE = 30;
const LONGEST_BACKOFF_S = 900;

/** What makes a name or an address unique: NFKC, without regard to case. */
export const accountKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/** A name made from an e-mail address, for those who register with nothing else. */
export const nameFrom = (email: string): string => {
  const local = email.split('@', 1)[0] ?? '';
  return local
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .slice(0, 40)
    .padEnd(3, '-');
};

/** Seconds to wait after so many failures of one account from one address. */
export const backoffSeconds = (failures: number): number =>
  failures < FREE_TRIES ? 0 : Math.min(LONGEST_BACKOFF_S, 2 ** (failures - FREE_TRIES));

/** A place as a person thinks of it: an IPv4 /24, an IPv6 /64. */
export const addressText = (address: string): string => {
  const network = networkOf(address);
  const [, first24] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(network) ?? [];
  return first24 === undefined ? `${network}::/64` : `${first24}.0/24`;
};

/** The first that fits: most programs name others too. */
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

/** In words of ours: nothing of what a stranger wrote goes into a message. */
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
  /** A tunnel is set up, whether it is on or off. */
  isTunnelled: boolean;
}

/**
 * Whether this request may register. `local` is only for this machine itself, and counts as
 * `invite` as soon as anybody else could look local: a public address, a proxy, a wider host.
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
 * Whether the first account, which becomes the admin, takes the setup code: also where anybody may
 * register, since a stranger could be the first.
 */
export const firstTakesCode = (exposure: Exposure): boolean =>
  isExposed(exposure) || mayRegister(exposure, true) !== 'yes';

export const isExposed = (of: Omit<Exposure, 'registration'>): boolean =>
  !isLoopbackHost(of.host) ||
  of.publicUrl !== null ||
  of.trustedProxies.length > 0 ||
  of.isTunnelled;
