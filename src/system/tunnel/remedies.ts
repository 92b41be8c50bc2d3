import type { StepInput } from './step.js';

type RemedyContext = Pick<StepInput, 'provider' | 'upstream' | 'url'>;

/** Advice for each failure, ready to paste where possible. */
export const remedies = {
  address: 'adjutant tunnel set --public-url https://…   a name that the internet knows',
  name: ({ provider, url }: RemedyContext): string =>
    provider === 'cloudflared' || provider === 'ngrok' || provider === 'tailscale'
      ? `look whether the tunnel is up: adjutant tunnel get   (a new name takes a minute)`
      : `add an A or AAAA record for ${url.hostname}, then check again`,
  certificate: ({ provider }: RemedyContext): string =>
    provider === 'proxy' || provider === 'ssh'
      ? 'adjutant tunnel config caddy   Caddy gets and renews certificates by itself'
      : 'look at the certificate of this name at the provider, then check again',
  /** Advice for the way from the public name to this daemon. */
  way: ({ provider, upstream }: RemedyContext): string => {
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
  untouched: ({ provider }: RemedyContext): string =>
    provider === 'proxy' || provider === 'ssh'
      ? 'adjutant tunnel config caddy   or nginx: these pass on everything as it came'
      : 'switch off what changes requests there: transform rules, filters, policies',
  login: 'take the login in front away from /api/webhooks and /api/hooks/incoming',
  addresses: 'adjutant tunnel config caddy   or nginx: these set X-Forwarded-For themselves',
};
