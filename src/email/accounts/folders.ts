import type { CheckMailFolder } from '../../hooks/module.js';
import type { Clock } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { MailFault } from '../../providers/mail/fault.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import type { MailAccess } from './access.js';
import type { MailAccountsStore } from './queries.js';
import { findMailAccount } from './service.js';

interface MailFoldersDeps {
  clock: Clock;
  accounts: MailAccountsStore;
  access: MailAccess;
}

interface ListedFolder {
  name: string;
  use: string | null;
  messages: number | null;
  unread: number | null;
}

const PATIENCE_MS = 20_000;

/** If the server is unreachable, the configured folders. */
export const listMailFolders = async (
  deps: MailFoldersDeps,
  { userId, signal }: Caller,
  id: string,
): Promise<{ folders: ListedFolder[]; problem: string | null }> => {
  const account = await findMailAccount(deps, userId, id);
  const limit = AbortSignal.any([signal, deps.clock.deadline(PATIENCE_MS)]);
  try {
    const listed = await deps.access.imap(account, { signal: limit }, (session) =>
      session.list({ statusQuery: { messages: true, unseen: true } }),
    );
    const folders = listed.map(({ path, specialUse, status }) => ({
      name: path,
      use: specialUse?.slice(1).toLowerCase() ?? null,
      messages: status?.messages ?? null,
      unread: status?.unseen ?? null,
    }));
    return { folders, problem: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.aborted && !(error instanceof MailFault)) throw error;
    const problem =
      error instanceof MailFault ? error.message : 'The server did not respond in time';
    return { folders: ownFolders(account), problem: problem.slice(0, 500) };
  }
};

/** The servers are asked only for a folder that is not configured. */
export const createCheckMailFolder =
  (deps: MailFoldersDeps): CheckMailFolder =>
  async (by, { accountId, folder }) => {
    const accounts =
      accountId === undefined
        ? (await deps.accounts.list(by.userId, { limit: 200 })).rows
        : [await findMailAccount(deps, by.userId, accountId)];
    const isConfigured = accounts.some((account) => JSON.parse(account.folders).includes(folder));
    if (isConfigured || accounts.length === 0) return { isKnown: true };
    const listed = await Promise.all(accounts.map(({ id }) => listMailFolders(deps, by, id)));
    const names = listed.flatMap(({ folders }) => folders.map(({ name }) => name));
    if (names.includes(folder)) return { isKnown: true };
    const problem = listed.flatMap((each) => each.problem ?? [])[0] ?? null;
    return { isKnown: false, names: [...new Set(names)], problem };
  };

const ownFolders = ({ folders }: MailAccountRow): ListedFolder[] => {
  const own: string[] = JSON.parse(folders);
  return own.map((name) => ({ name, use: null, messages: null, unread: null }));
};
