import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Notice, Outbox } from '../../outbound/module.js';
import type { PageInput } from '../../store/page.js';
import { passkeyTable } from '../../store/tables/accounts.js';
import { viewer } from '../../store/view.js';
import { AccountPasskey, type FactorRemoval } from './contract.js';
import type { FactorsStore, Removal } from './factorqueries.js';
import { type AccountDeps, findAccount } from './service.js';

export interface FactorsDeps extends AccountDeps {
  factors: FactorsStore;
  outbox: Outbox;
  endSession(sessionId: string): void;
}

interface RemovalCall {
  id: string;
  request: FactorRemoval;
}

/** Throws 404 if the user has no authenticator app. */
export const removeTotp = async (
  deps: FactorsDeps,
  { id, request }: RemovalCall,
  by: Caller & Recorder,
): Promise<void> => {
  await refuseAdmin(deps, id);
  if (!(await deps.factors.hasTotp(id))) {
    throw Boom.notFound('That user has no authenticator app');
  }
  await deps.accounts.proveFresh(by, request.password);
  await remove(deps, { id, what: 'Your authenticator app', request }, by, deps.factors.removeTotp);
};

export const listPasskeys = async (
  deps: FactorsDeps,
  id: string,
  page: PageInput,
): Promise<{ passkeys: AccountPasskey[]; nextCursor: string | null }> => {
  await findAccount(deps, id);
  const { rows, nextCursor } = await deps.factors.passkeys(id, page);
  return { passkeys: rows.map(viewAccountPasskey), nextCursor };
};

const viewAccountPasskey = viewer(passkeyTable, AccountPasskey, {});

export const removePasskey = async (
  deps: FactorsDeps,
  { id, passkeyId, request }: RemovalCall & { passkeyId: string },
  by: Caller & Recorder,
): Promise<void> => {
  await refuseAdmin(deps, id);
  const found = await deps.factors.passkey(id, passkeyId);
  if (!found) throw Boom.notFound('That user has no passkey with that id');
  await deps.accounts.proveFresh(by, request.password);
  const what = `Your passkey "${found.name}"`;
  await remove(deps, { id, what, request }, by, (removal) =>
    deps.factors.removePasskey(passkeyId, removal),
  );
};

/**
 * Not even the caller's own factors are removed this way. An admin who has lost a factor has access to
 * the machine, or another way to log in.
 */
const refuseAdmin = async (deps: FactorsDeps, id: string): Promise<void> => {
  const { role } = await findAccount(deps, id);
  if (role !== 'admin') return;
  throw Boom.forbidden(
    'The second factors of an admin can be removed only on the machine of the daemon. Stop the daemon and run there: adjutant recover <user>',
    { code: 'admin_account' },
  );
};

/** The message, the removal and the end of the sessions are one transaction. */
const remove = async (
  deps: FactorsDeps,
  { id, what, request }: RemovalCall & { what: string },
  by: Caller & Recorder,
  removing: (removal: Removal) => Promise<string[] | null>,
): Promise<void> => {
  const message = deps.outbox.toOwner(id, buildRemovalNotice(what, request.reason, by));
  const record = by.record({ target: id, data: { what, reason: request.reason } });
  const at = iso(deps.clock.now());
  const ended = await removing({ id, at, before: message.statements, after: [record] });
  if (!ended)
    throw Boom.conflict(
      'The second factor was already removed, or the user became an admin. Get the user again',
    );
  message.published();
  for (const session of ended) deps.endSession(session);
};

const buildRemovalNotice = (what: string, reason: string, { username }: Caller): Notice => ({
  kind: 'factor.removed',
  title: `${what} was removed by an admin`,
  body: `Removed by ${username}. All your logins have ended. Reason: ${reason}. If you did not request this, change your password and contact another admin.`,
  link: null,
});
