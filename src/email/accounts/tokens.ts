import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { Log } from '../../kernel/log.js';
import { MailFault, toMailFault } from '../../providers/mail/fault.js';
import {
  type MailGrant,
  type MailToken,
  parseMailGrant,
  refreshMailToken,
  TokenRefused,
} from '../../providers/mail/oauth.js';
import { redactLoginSecrets } from '../../providers/mail/secret.js';
import type { MailLogin } from '../../providers/mail/server.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import type { Renewal, Vault } from '../../vault/module.js';

export interface MailTokensDeps {
  clock: Clock;
  log: Log;
  http: Pick<Http, 'request'>;
  vault: Pick<Vault, 'newest' | 'used'>;
  renew: Renewal;
}

export interface MailTokens {
  /** Throws MailFault, `login` if the credential was deleted or has expired. Assign another credential to the mail account. */
  loginOf(account: MailAccountRow, signal: AbortSignal): Promise<MailLogin>;
  /** False if there was none. */
  forget(account: MailAccountRow): boolean;
}

/** Renewal lead time. */
const EARLY_MS = 60_000;

interface CachedToken {
  accessToken: string;
  until: number;
  /** Credential value that it was issued for. */
  value: string;
}

export const createMailTokens = (deps: MailTokensDeps): MailTokens => {
  const { clock, vault } = deps;
  const tokens = new Map<string, CachedToken>();
  const underway = new Map<string, Promise<CachedToken>>();

  /** One refresh at a time per credential: many services accept each refresh token once. */
  const tokenFor = (account: MailAccountRow, value: string): Promise<CachedToken> => {
    const id = account.credential_id;
    const started = underway.get(id);
    if (started) return started;
    const renewed = renewedToken(deps, account, value).finally(() => underway.delete(id));
    underway.set(id, renewed);
    return renewed;
  };

  return {
    loginOf: async (account, signal) => {
      const { username, credential_id: id, auth } = account;
      const value = await vault.newest(id);
      const { host } = JSON.parse(account.imap);
      if (value === null)
        throw new MailFault(
          'login',
          host,
          'the credential was deleted or has expired. Assign another credential to the mail account',
        );
      vault.used(id);
      if (auth === 'password') return { username, password: value };
      const stored = tokens.get(id);
      if (stored?.value === value && stored.until > clock.now()) {
        return { username, accessToken: stored.accessToken };
      }
      const token = await tokenFor(account, value);
      signal.throwIfAborted();
      tokens.set(id, token);
      return { username, accessToken: token.accessToken };
    },
    forget: ({ credential_id: id }) => tokens.delete(id),
  };
};

const renewedToken = async (
  deps: MailTokensDeps,
  account: MailAccountRow,
  value: string,
): Promise<CachedToken> => {
  const grant = parseMailGrant(value);
  const { host } = JSON.parse(account.imap);
  if (!grant)
    throw new MailFault(
      'login',
      host,
      'the credential contains no OAuth2 grant. Assign another credential to the mail account',
    );
  const token = await requestedToken(deps, grant);
  const until = deps.clock.now() + token.lifeMs - EARLY_MS;
  const { accessToken, rotated } = token;
  if (rotated === null) return { accessToken, until, value };
  // Stored before use: the previous one may be invalid.
  const next = JSON.stringify({ ...grant, refreshToken: rotated });
  const { user_id: userId, credential_id: credentialId } = account;
  if (!(await deps.renew({ userId, credentialId, value: next, before: value }))) {
    deps.log.warn(
      { credentialId },
      'a rotated refresh token was superseded by a new credential value',
    );
  }
  return { accessToken, until, value: next };
};

/** Not aborted by the caller, since the reply may contain the only token. */
const REQUEST_MS = 30_000;

const requestedToken = async (
  { clock, http }: MailTokensDeps,
  grant: MailGrant,
): Promise<MailToken> => {
  const { host } = new URL(grant.tokenEndpoint);
  try {
    return await refreshMailToken(http, grant, clock.deadline(REQUEST_MS));
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw toMailFault(error, host);
    const kind = error.code === 'invalid_grant' ? 'login' : 'server';
    const secrets = [grant.refreshToken, grant.clientSecret];
    throw new MailFault(kind, host, await redactLoginSecrets(error.message, secrets));
  }
};
