import { isLoopbackHost } from '../../kernel/peer.js';
import type { Finding } from './contract.js';

/** Where the daemon can be reached, and who may make an account there. */
export interface Exposure {
  registration: 'local' | 'open' | 'invite' | 'closed';
  host: string;
  port: number;
  publicUrl: string | null;
  trustedProxies: string[];
}

const LEEWAY_MS = 60_000;

export const fine = (name: string, detail: string): Finding => ({
  ...{ name, status: 'ok', detail, remedy: null },
});
export const warn = (name: string, detail: string, remedy: string): Finding => ({
  ...{ name, status: 'warn', detail, remedy },
});
export const wrong = (name: string, detail: string, remedy: string): Finding => ({
  ...{ name, status: 'fail', detail, remedy },
});

/** What strangers can do, as it is configured. */
export const exposureOf = (of: Exposure): Finding[] => {
  const isWide = !isLoopbackHost(of.host);
  const at = `${of.host}:${of.port}`;
  return [
    isWide && of.trustedProxies.length === 0
      ? warn(
          'exposure',
          `it listens on ${at}, beyond this machine, and no proxy with TLS is named`,
          'adjutant restart --host 127.0.0.1   or name the proxy: ADJUTANT_TRUSTED_PROXIES',
        )
      : fine('exposure', `${at}${of.publicUrl === null ? '' : `, public as ${of.publicUrl}`}`),
    ...(of.registration === 'open' ? [openTo(isWide || of.publicUrl !== null)] : []),
    ...(of.publicUrl !== null && of.trustedProxies.length === 0 ? [NAMELESS] : []),
  ];
};

const openTo = (isReached: boolean): Finding =>
  (isReached ? wrong : warn)(
    'registration',
    'anybody who reaches it may make an account',
    'unset ADJUTANT_REGISTRATION, then: adjutant restart',
  );

const NAMELESS = warn(
  'addresses',
  'it has a public address and trusts no proxy, as behind an ssh forward: all callers look like one',
  'where a proxy names the caller: ADJUTANT_TRUSTED_PROXIES; with ssh there is no remedy but strong passwords',
);

/** A clock that was set back makes what was written lie in the future. */
export const clockOf = (now: number, newestAt: string | null): Finding => {
  const aheadMs = newestAt === null ? 0 : Date.parse(newestAt) - now;
  if (aheadMs <= LEEWAY_MS) return fine('clock', new Date(now).toISOString());
  return wrong(
    'clock',
    `it says ${new Date(now).toISOString()}, and the database was written at ${newestAt}`,
    'set the clock: timedatectl set-ntp true',
  );
};
