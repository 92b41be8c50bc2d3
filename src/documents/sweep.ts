import type { Originals } from './originals.js';
import type { DocumentsStore } from './queries.js';

/**
 * Removes originals without a document. They remain after a crash between storing the file and its
 * row, or after an account is deleted. Returns their number.
 */
export const sweepOriginals = async (
  documents: Pick<DocumentsStore, 'contentsOf'>,
  originals: Originals,
): Promise<number> => {
  let swept = 0;
  for (const userId of await originals.users()) {
    const referenced = await documents.contentsOf(userId);
    const orphaned = (await originals.contents(userId)).filter((sha256) => !referenced.has(sha256));
    for (const sha256 of orphaned) await originals.remove(userId, sha256);
    if (referenced.size === 0) await originals.removeFolder(userId);
    swept += orphaned.length;
  }
  return swept;
};
