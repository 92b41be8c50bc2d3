import { redactTextApart } from '../../kernel/redactapart.js';
import { MIN_PIECE_LENGTH } from '../../kernel/secretforms.js';
import { FolderMissing, MailFault } from './fault.js';
import type { MailLogin } from './server.js';

/** Some servers repeat secrets in their replies. */
export const withoutSecrets = (
  text: string,
  secretsSent: (string | undefined)[],
): Promise<string> => {
  const secrets = secretsSent.flatMap((secret) =>
    secret !== undefined && secret.length >= MIN_PIECE_LENGTH ? [secret] : [],
  );
  return redactTextApart(text, secrets);
};

/** Removes secrets of the login from exceptions. */
export const keepingSecrets = async <T>(login: MailLogin, visit: () => Promise<T>): Promise<T> => {
  try {
    return await visit();
  } catch (error) {
    if (!(error instanceof MailFault) || error instanceof FolderMissing) throw error;
    const detail = await withoutSecrets(error.detail, [login.password, login.accessToken]);
    if (detail === error.detail) throw error;
    // Without its cause, which contains the same text.
    throw new MailFault(error.kind, error.host, detail, { status: error.status });
  }
};
