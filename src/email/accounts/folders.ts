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

const ownFolders = ({ folders }: MailAccountRow): ListedFolder[] => {
  const own: string[] = JSON.parse(folders);
  return own.map((name) => ({ name, use: null, messages: null, unread: null }));
};
