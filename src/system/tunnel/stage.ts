import type { Http } from '../../kernel/http.js';
import type { ProviderName } from '../../providers/tunnels/providers.js';
import type { TunnelCheck } from './contract.js';
import type { Probe } from './probes.js';

export type CheckStage = TunnelCheck['stages'][number];
export type StageName = CheckStage['name'];
type Failure = NonNullable<TunnelCheck['failure']>;

export interface StageInput {
  url: URL;
  http: Http;
  probe: Probe;
  provider: ProviderName;
  /** Address to which the proxy or tunnel must send requests: `127.0.0.1:8305`. */
  upstream: string;
  addressHeader: string | null;
  /** Current time in milliseconds since 1970, for the age of the certificate. */
  now: number;
  /** Settings that give unauthenticated clients too much access. */
  openings: Pick<Failure, 'seen' | 'remedy'>[];
  /** Maximum time to wait for a reply, in milliseconds. Defaults to 10 s. */
  replyMs?: number;
}

/** `latencyMs` is the duration of the round trip; null if there was none. */
export type StageOutcome = Pick<CheckStage, 'detail' | 'latencyMs'> & Partial<CheckStage>;

export class StageFailed extends Error {
  override name = 'StageFailed';

  constructor(readonly fault: Omit<Failure, 'stage'>) {
    super(fault.seen);
  }
}

/** The reply did not come from the daemon. */
export const intercepted = (input: StageInput, seen: string): StageFailed => {
  const cause = 'a proxy replies instead of this daemon';
  return new StageFailed({ seen, cause, remedy: remedies.untouched(input) });
};

/** Advice for each kind of failure, with commands to paste. */
export const remedies = {
  address: 'adjutant tunnel set --public-url https://…   Use a public host name',
  name: ({ provider, url }: StageInput): string =>
    isOwnServer(provider)
      ? `add an A or AAAA record for ${url.hostname}, then check again`
      : 'check whether the tunnel is running: adjutant tunnel get   A new name takes a minute',
  certificate: ({ provider }: StageInput): string =>
    isOwnServer(provider)
      ? 'adjutant tunnel config caddy   Caddy obtains and renews certificates automatically'
      : 'check the certificate of this name at the provider, then check again',
  way: ({ provider, upstream }: StageInput): string => {
    if (provider === 'ssh') {
      return `forward the name to ${upstream} on the server: adjutant tunnel config caddy`;
    }
    if (provider === 'proxy') {
      return `configure the proxy to forward to ${upstream}: adjutant tunnel config caddy   or nginx`;
    }
    if (provider === 'cloudflared') {
      return `adjutant tunnel get   At Cloudflare, set the service of this name to http://${upstream}`;
    }
    return 'adjutant tunnel stop && adjutant tunnel start, then: adjutant tunnel get';
  },
  untouched: ({ provider }: StageInput): string =>
    isOwnServer(provider)
      ? 'adjutant tunnel config caddy   or nginx. These configurations forward requests unchanged'
      : 'disable everything that changes requests at the provider: transform rules, filters, policies',
  login: 'disable the login of the proxy for /api/webhooks and /api/hooks/incoming',
  addresses: 'adjutant tunnel config caddy   or nginx. These configurations set X-Forwarded-For',
};

/** True if the operator runs the server with the public name. */
const isOwnServer = (provider: ProviderName): boolean => provider === 'proxy' || provider === 'ssh';
