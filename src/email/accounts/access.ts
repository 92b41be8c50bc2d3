import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { Outbox } from '../../outbound/module.js';
import { FolderMissing, MailFault } from '../../providers/mail/fault.js';
import { type ImapSession, withImap } from '../../providers/mail/imap.js';
import { withRedactedErrors } from '../../providers/mail/secret.js';
import type { MailLogin } from '../../providers/mail/server.js';
import { openSmtp, type SmtpSession } from '../../providers/mail/smtp.js';
import type { MailAccountRow, MailLoginKind } from '../../store/tables/mail.js';
import type { MailAccountsStore } from './queries.js';
import type { MailTokens } from './tokens.js';

export interface MailAccessDeps {
  clock: Clock;
  http: Pick<Http, 'addressesOf'>;
  accounts: MailAccountsStore;
  outbox: Pick<Outbox, 'toOwner'>;
  tokens: MailTokens;
}

interface MailVisit {
  account: MailAccountRow;
  login: MailLoginKind;
  signal: AbortSignal;
}

/** Each visit updates the status of the account. */
export interface MailAccess {
  /** Throws MailFault. */
  imap<T>(
    account: MailAccountRow,
    visit: { signal: AbortSignal; silenceMs?: number },
    work: (session: ImapSession) => Promise<T>,
  ): Promise<T>;
  /** The caller closes it. Throws MailFault. */
  smtp(account: MailAccountRow, signal: AbortSignal): Promise<SmtpSession>;
}

export const createMailAccess = (deps: MailAccessDeps): MailAccess => {
  const { clock, http, tokens } = deps;

  /** Retries once with a new access token. */
  const loggedIn = async <T>(
    account: MailAccountRow,
    signal: AbortSignal,
    visit: (login: MailLogin) => Promise<T>,
  ): Promise<T> => {
    const attempt = async (): Promise<T> => {
      const login = await tokens.loginOf(account, signal);
      return withRedactedErrors(login, () => visit(login));
    };
    try {
      return await attempt();
    } catch (error) {
      const isLogin = error instanceof MailFault && error.kind === 'login';
      if (!isLogin || !tokens.forget(account)) throw error;
      return attempt();
    }
  };

  const noted = async <T>(
    { account, login: kind, signal }: MailVisit,
    visit: (login: MailLogin) => Promise<T>,
  ): Promise<T> => {
    // Without a usable credential both logins fail.
    let refused: MailLoginKind | null = null;
    try {
      const result = await loggedIn(account, signal, (login) => {
        refused = kind;
        return visit(login);
      });
      if (account.status !== 'ok') await deps.accounts.noteLogin(account, kind);
      return result;
    } catch (error) {
      if (error instanceof MailFault && !(error instanceof FolderMissing)) {
        await noteFault(deps, account, { fault: error, refused });
      }
      throw error;
    }
  };

  return {
    imap: (account, visit, work) =>
      noted({ account, login: 'imap', signal: visit.signal }, (login) =>
        withImap(http, { server: JSON.parse(account.imap), login, ...visit }, work),
      ),
    smtp: (account, signal) =>
      noted({ account, login: 'smtp', signal }, (login) =>
        openSmtp(http, { server: JSON.parse(account.smtp), login, signal, clock }),
      ),
  };
};

/** Notifies the owner once if a login is needed. */
const noteFault = async (
  { accounts, outbox }: MailAccessDeps,
  account: MailAccountRow,
  { fault, refused }: { fault: MailFault; refused: MailLoginKind | null },
): Promise<void> => {
  const { kind } = fault;
  // The host alone does not name the login: most services use one host for both.
  const error = refused === 'smtp' ? `SMTP: ${fault.message}` : fault.message;
  if (kind !== 'login') {
    await accounts.note(account, { status: 'failing', error }, { unless: 'needs_login' });
    return;
  }
  const advice = account.auth === 'oauth2' ? 'Replace the refresh token' : 'Change the password';
  const notice = outbox.toOwner(account.user_id, {
    kind: 'mail_needs_login',
    title: `${account.address} needs a new login`,
    body: `${error}. ${advice}: adjutant vault rotate ${account.credential_id.slice(-6)}. Then test the account: adjutant email accounts test ${account.address}`,
    link: `/api/email/accounts/${account.id}`,
    about: account.address,
  });
  const state = { status: 'needs_login', error, refused_login: refused } as const;
  const also = notice.statements;
  if (await accounts.note(account, state, { unless: 'needs_login', also })) notice.published();
};
