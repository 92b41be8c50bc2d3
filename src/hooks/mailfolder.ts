import type { Caller } from '../kernel/contract/endpoint.js';
import { badRequest } from '../kernel/route.js';
import type { TriggerConfig } from './hook.js';

type MailFolderCheck =
  | { isKnown: true }
  /** `problem`: why names may be missing. */
  | { isKnown: false; names: string[]; problem: string | null };

/** Without `accountId`: in any account of the user. Known if there is no account yet. */
export type CheckMailFolder = (
  by: Caller,
  of: { accountId: string | undefined; folder: string },
) => Promise<MailFolderCheck>;

const MAX_NAMES = 50;

/** Throws 400 for an unknown folder. Returns a note if a mail server could not be asked. */
export const checkTriggerFolder = async (
  checkMailFolder: CheckMailFolder,
  by: Caller,
  { accountId, folder }: TriggerConfig = {},
): Promise<string | undefined> => {
  if (folder === undefined) return undefined;
  const found = await checkMailFolder(by, { accountId, folder });
  if (found.isKnown) return undefined;
  if (found.problem !== null) {
    return `The folder could not be checked, because the mail server could not be read: ${found.problem}`;
  }
  const names = found.names.slice(0, MAX_NAMES).map((name) => name.replace(/\p{C}/gu, '_'));
  const message = `does not match any folder of the mail account. Folders: ${names.join(', ')}`;
  throw badRequest([{ path: 'triggerConfig.folder', message }]);
};
