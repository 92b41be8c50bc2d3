import type { AccountOperations, ManagedAccounts } from '../../accounts/module.js';
import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { OrgsStore } from '../queries.js';
import type { SsoStore } from './queries.js';
import type { ServiceProvider } from './saml.js';

export interface SsoDeps {
  orgs: OrgsStore;
  sso: SsoStore;
  clock: Clock;
  http: Http;
  accounts: Pick<AccountOperations, 'proveFresh' | 'keyOf' | 'entryOf' | 'sessionHolds'>;
  managed: Pick<ManagedAccounts, 'create' | 'count'>;
  /** Address of this daemon for browsers; null if it is not https and not loopback. */
  baseUrl(): string | null;
  resolveTxt(name: string): Promise<string[][]>;
}

export const serviceProviderOf = (
  { baseUrl }: Pick<SsoDeps, 'baseUrl'>,
  slug: string,
): ServiceProvider | null => {
  const base = baseUrl();
  return base === null
    ? null
    : { entityId: `${base}/api/saml/metadata?org=${slug}`, acsUrl: `${base}/api/saml/acs` };
};
