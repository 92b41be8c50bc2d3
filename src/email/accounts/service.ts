import Boom from '@hapi/boom';
import type { MailTriggers } from '../../hooks/module.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { getEgressRefusal } from '../../kernel/egress.js';
import type { Http } from '../../kernel/http.js';
import { mint } from '../../kernel/ids.js';
import type { FieldFault } from '../../kernel/problem.js';
import { badRequest, orNotFound, throwIfFaults } from '../../kernel/route.js';
import { type FindMailServers, getAddressDomain } from '../../providers/mail/autoconfig.js';
import { parseMailGrant } from '../../providers/mail/oauth.js';
import type { MailServer } from '../../providers/mail/server.js';
import { UniqueViolation } from '../../store/engine/protocol.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import { mailAccountTable } from '../../store/tables/mail.js';
import { updateIf } from '../../store/updateif.js';
import { storedColumns } from '../../store/view.js';
import type { Vault } from '../../vault/module.js';
import type { MailAccountChanges, NewMailAccount } from './contract.js';
import { MAX_MAIL_ACCOUNTS, type MailAccountsStore, WORKING } from './queries.js';

export interface MailAccountsDeps {
  clock: Clock;
  http: Pick<Http, 'check'>;
  accounts: MailAccountsStore;
  vault: Pick<Vault, 'borrow'>;
  findServers: FindMailServers;
}

type RecordingCaller = Caller & Recorder;

const SYNC_DAYS = 90;

export const addMailAccount = async (
  deps: MailAccountsDeps,
  by: RecordingCaller,
  input: NewMailAccount,
): Promise<MailAccountRow> => {
  const now = deps.clock.now();
  const { address, credentialId } = input;
  const { imap, smtp, username } = await serversFor(deps, by, input);
  const row: MailAccountRow = {
    id: mint('mailaccount', now),
    user_id: by.userId,
    address,
    name: input.name ?? address,
    imap: JSON.stringify(imap),
    smtp: JSON.stringify(smtp),
    auth: input.auth ?? 'password',
    username,
    credential_id: credentialId,
    folders: JSON.stringify(input.folders ?? ['INBOX']),
    watch: input.watch ? 1 : 0,
    sync_days: input.syncDays ?? SYNC_DAYS,
    save_sent: input.saveSent ? 1 : 0,
    authserv_id: null,
    status: 'ok',
    last_sync_at: null,
    error: null,
    new_from: iso(now),
    created_at: iso(now),
    updated_at: iso(now),
    refused_login: null,
  };
  await refuseUnusableCredential(deps, by, row);
  const record = by.record({ target: row.id, data: toAuditData(row) });
  if (await insertOnce(deps, row, record)) return row;
  throw Boom.conflict(
    `You have the maximum of ${MAX_MAIL_ACCOUNTS} mail accounts. Delete a mail account first`,
    {
      code: 'too_many_mail_accounts',
    },
  );
};

const insertOnce = async (
  { accounts }: MailAccountsDeps,
  ...[row, record]: Parameters<MailAccountsStore['insert']>
): Promise<boolean> => {
  try {
    return await accounts.insert(row, record);
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw Boom.conflict(
      `You already have a mail account for ${row.address}. Update that account, or use another address`,
      {
        code: 'address_taken',
      },
    );
  }
};

const toAuditData = ({ address, imap, smtp, credential_id }: MailAccountRow) => ({
  address,
  imap: JSON.parse(imap),
  smtp: JSON.parse(smtp),
  credentialId: credential_id,
});

const serversFor = async (
  deps: MailAccountsDeps,
  { signal }: Caller,
  { address, imap, smtp, username }: NewMailAccount,
): Promise<{ imap: MailServer; smtp: MailServer; username: string }> => {
  if (imap && smtp) return { imap, smtp, username: username ?? address };
  const found = await deps.findServers(address, signal);
  if (!found) {
    const message = `is required because no mail servers were found for ${getAddressDomain(address)}`;
    throw badRequest([{ path: imap ? 'smtp' : 'imap', message }]);
  }
  return {
    imap: imap ?? found.imap,
    smtp: smtp ?? found.smtp,
    username: username ?? mailUsername(address, found.username),
  };
};

/** Throws 404 if none are found, 400 if a server is not allowed. */
export const findServers = async (
  deps: MailAccountsDeps,
  { address, imap, smtp }: Pick<NewMailAccount, 'address' | 'imap' | 'smtp'>,
  signal: AbortSignal,
) => {
  const isGiven = imap !== undefined && smtp !== undefined;
  const found = isGiven
    ? { ...GIVEN, imap, smtp, name: getAddressDomain(address) }
    : await deps.findServers(address, signal);
  if (!found) {
    throw Boom.notFound('No mail servers found for the address. Enter the servers manually', {
      code: 'no_servers',
    });
  }
  const servers = { imap: imap ?? found.imap, smtp: smtp ?? found.smtp };
  throwIfFaults(
    Object.entries(servers).flatMap(([path, server]) => serverFault(deps, path, server)),
  );
  return { ...found, ...servers, username: mailUsername(address, found.username) };
};

const GIVEN = { source: 'given', username: 'address', oauth2: null, hint: null } as const;

const mailUsername = (address: string, kind: 'address' | 'local'): string =>
  kind === 'address' ? address : address.slice(0, address.lastIndexOf('@'));

/** Throws if a server is not allowed, or the credential must not be sent to it. */
const refuseUnusableCredential = async (
  deps: MailAccountsDeps,
  by: Caller,
  { imap, smtp, credential_id: id, auth }: MailAccountRow,
): Promise<void> => {
  const servers: [string, MailServer][] = [
    ['imap', JSON.parse(imap)],
    ['smtp', JSON.parse(smtp)],
  ];
  throwIfFaults(servers.flatMap(([path, server]) => serverFault(deps, path, server)));
  const borrowed = await deps.vault.borrow(by.userId, { id });
  if (borrowed === null) throw Boom.notFound('Credential not found');
  if (borrowed === 'expired') throw credentialFault('refers to an expired credential');
  if (borrowed === 'damaged')
    throw credentialFault('refers to a damaged credential. Rotate the credential');
  const isGrant = borrowed.secret.take((bytes) => parseMailGrant(bytes.toString()) !== null);
  if (auth === 'oauth2' && !isGrant) {
    throw credentialFault(
      'must contain JSON with clientId, refreshToken and an HTTPS tokenEndpoint',
    );
  }
  const isLent = servers.every(([, { host, port }]) =>
    [host, `${host}:${port}`].some((name) => borrowed.allowedHosts.includes(name.toLowerCase())),
  );
  if (!isLent) refuseDelegate(by);
};

const credentialFault = (message: string): Boom.Boom =>
  badRequest([{ path: 'credentialId', message }]);

const serverFault = (
  { http }: MailAccountsDeps,
  path: string,
  { host, port }: MailServer,
): FieldFault[] => {
  const why = getEgressRefusal(() => http.check(`https://${host}:${port}`));
  return why === null ? [] : [{ path: `${path}.host`, message: why }];
};

/**
 * Whoever sets the servers receives the credential, so others may only use its allowedHosts. Throws
 * 403.
 */
const refuseDelegate = ({ tokenId, impersonator }: Caller): void => {
  if (tokenId === null && !impersonator) return;
  const message =
    'The allowedHosts of the credential do not include these servers. Only the owner, in a login session, may use the credential with other servers';
  throw Boom.forbidden(message, PERSONAL_ONLY);
};

const PERSONAL_ONLY = { code: 'personal_only' };
const WATCH_IN_PERSON = 'An admin who acts as a user cannot enable the watch of a mail account';

export const findMailAccount = async (
  { accounts }: { accounts: MailAccountsStore },
  userId: string,
  id: string,
): Promise<MailAccountRow> => orNotFound(await accounts.get(userId, id), 'Mail account not found');

/** Changed servers or credentials reset the status. */
export const updateMailAccount = (
  deps: MailAccountsDeps,
  by: RecordingCaller,
  { id, given }: { id: string; given: MailAccountChanges },
): Promise<MailAccountRow> => {
  return updateIf({
    clock: deps.clock,
    read: () => findMailAccount(deps, by.userId, id),
    write: async (read, version) => {
      const { imap, smtp } = given;
      const changed = {
        ...given,
        ...(imap && { imap: { ...JSON.parse(read.imap), ...imap } }),
        ...(smtp && { smtp: { ...JSON.parse(read.smtp), ...smtp } }),
      };
      const changes = { ...storedColumns(mailAccountTable, changed), updated_at: version };
      const after = { ...read, ...changes };
      const login = ['imap', 'smtp', 'auth', 'username', 'credential_id'] as const;
      const isOther = login.some((column) => after[column] !== read[column]);
      if (isOther) await refuseUnusableCredential(deps, by, after);
      const state = isOther ? { ...WORKING, authserv_id: null } : {};
      const isWatched = read.watch === 0 && after.watch === 1;
      if (isWatched && by.impersonator) throw Boom.forbidden(WATCH_IN_PERSON, PERSONAL_ONLY);
      const start = isWatched ? { new_from: iso(deps.clock.now()) } : {};
      const record = by.record({ data: { ...given } });
      const written = { ...changes, ...state, ...start };
      const isWritten = await deps.accounts.update(read, written, [record]);
      return isWritten ? { ...read, ...written } : null;
    },
  });
};

interface MailAccountRemoval {
  service: MailAccountsDeps;
  sending: { hurry(accountId: string): void };
  triggers: Pick<MailTriggers, 'boundTo'>;
}

/** Throws 409 while messages are queued or hooks need the account, unless forced. */
export const removeMailAccount = async (
  { service, sending, triggers }: MailAccountRemoval,
  by: RecordingCaller,
  { id, isForced }: { id: string; isForced: boolean },
): Promise<void> => {
  const { address } = await findMailAccount(service, by.userId, id);
  const { accounts, clock } = service;
  const bound = isForced ? [] : await triggers.boundTo({ userId: by.userId, accountId: id });
  if (bound.length > 0) throw boundHooks(address, bound);
  const records = [by.record({ data: { address, ...(isForced && { force: true }) } })];
  const now = iso(clock.now());
  if (await accounts.delete(by.userId, id, { isForced, now, also: records })) {
    if (isForced) sending.hurry(id);
    return;
  }
  await findMailAccount(service, by.userId, id);
  throw Boom.conflict(
    `E-mails from ${address} are queued or being sent. Wait until they are sent, or pass force=true to discard the queued e-mails`,
    { code: 'mail_waits' },
  );
};

const MAX_NAMED_HOOKS = 5;

const boundHooks = (address: string, names: string[]): Boom.Boom => {
  const named = names.slice(0, MAX_NAMED_HOOKS).map((name) => `"${name}"`);
  const more = names.length - named.length;
  const all = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const hooks = names.length === 1 ? `The hook ${all} runs` : `The hooks ${all} run`;
  return Boom.conflict(
    `${hooks} only for e-mails of ${address}. Delete or change ${names.length === 1 ? 'it' : 'them'} first, or pass force=true to delete the account anyway`,
    { code: 'mail_account_used' },
  );
};
