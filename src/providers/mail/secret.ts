import { redactTextInWorker } from '../../kernel/redactinworker.js';
import { MIN_PIECE_LENGTH } from '../../kernel/secretforms.js';
import { FolderMissing, MailFault } from './fault.js';
import type { MailLogin } from './server.js';

/** Some servers repeat secrets in their replies. */
export const redactLoginSecrets = (
  text: string,
  secretsSent: (string | undefined)[],
): Promise<string> => {
  const secrets = secretsSent.flatMap((secret) =>
    secret !== undefined && secret.length >= MIN_PIECE_LENGTH ? [secret] : [],
  );
  return redactTextInWorker(text, secrets);
};

/** Removes secrets of the login from exceptions. */
export const withRedactedErrors = async <T>(
  login: MailLogin,
  visit: () => Promise<T>,
): Promise<T> => {
  try {
    return await visit();
  } catch (error) {
    if (!(error instanceof MailFault) || error instanceof FolderMissing) throw error;
    const detail = await redactLoginSecrets(error.detail, [login.password, login.accessToken]);
    if (detail === error.detail) throw error;
    // Without its cause, which contains the same text.
    throw new MailFault(error.kind, error.host, detail, { status: error.status });
  }
};
