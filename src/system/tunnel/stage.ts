import type { Http } from '../../kernel/http.js';
import type { ProviderName } from '../../providers/tunnels/providers.js';
import type { TunnelCheck } from './contract.js';
import type { Probe } from './probes.js';

export type CheckStage = TunnelCheck['stages'][number];
export type StageName = CheckStage['name'];
type Failure = NonNullable<TunnelCheck['failure']>;

/** The input of a stage. */
export interface StageInput {
  /** The public address. */
  url: URL;
  http: Http;
  probe: Probe;
  provider: ProviderName;
  /** Address to which the far end of the tunnel must send requests: `127.0.0.1:8305`. */
  upstream: string;
  addressHeader: string | null;
  /** Time for the certificate's age, in milliseconds since 1970. */
  now: number;
  /** The settings that leave something open to unauthenticated clients. */
  openings: Pick<Failure, 'seen' | 'remedy'>[];
  /** Maximum time to wait for a reply, in milliseconds. Defaults to 10 s. */
  replyMs?: number;
}

/** The result of a stage. `latencyMs` is the duration of the round trip; null if there was none. */
export type StageOutcome = Pick<CheckStage, 'detail' | 'latencyMs'> & Partial<CheckStage>;

/** The error for a stage that found a fault, with its cause and what to do about it. */
export class StageFailed extends Error {
  override name = 'StageFailed';

  constructor(readonly fault: Omit<Failure, 'stage'>) {
    super(fault.seen);
  }
}

/** Builds the error for a reply that did not come from the daemon. */
export const intercepted = (input: StageInput, seen: string): StageFailed => {
  const cause = 'something in front answers in our place';
  return new StageFailed({ seen, cause, remedy: remedies.untouched(input) });
};

/** Advice for each failure, ready to paste where possible. */
export const remedies = {
  address: 'adjutant tunnel set --public-url https://…   a name that the internet knows',
  name: ({ provider, url }: StageInput): string =>
    isOwnServer(provider)
      ? `add an A or AAAA record for ${url.hostname}, then check again`
      : 'look whether the tunnel is up: adjutant tunnel get   (a new name takes a minute)',
  certificate: ({ provider }: StageInput): string =>
    isOwnServer(provider)
      ? 'adjutant tunnel config caddy   Caddy gets and renews certificates by itself'
      : 'look at the certificate of this name at the provider, then check again',
  /** Advice for the way from the public name to this daemon. */
  way: ({ provider, upstream }: StageInput): string => {
    if (provider === 'ssh') {
      return `on the server send the name to ${upstream}: adjutant tunnel config caddy`;
    }
    if (provider === 'proxy') {
      return `let the proxy send it to ${upstream}: adjutant tunnel config caddy   or nginx`;
    }
    if (provider === 'cloudflared') {
      return `adjutant tunnel get   and at Cloudflare the service of this name: http://${upstream}`;
    }
    return 'adjutant tunnel stop && adjutant tunnel start, then: adjutant tunnel get';
  },
  untouched: ({ provider }: StageInput): string =>
    isOwnServer(provider)
      ? 'adjutant tunnel config caddy   or nginx: these pass on everything as it came'
      : 'switch off what changes requests there: transform rules, filters, policies',
  login: 'take the login in front away from /api/webhooks and /api/hooks/incoming',
  addresses: 'adjutant tunnel config caddy   or nginx: these set X-Forwarded-For themselves',
};

/** True if the public name belongs to a server that the operator runs. */
const isOwnServer = (provider: ProviderName): boolean => provider === 'proxy' || provider === 'ssh';
