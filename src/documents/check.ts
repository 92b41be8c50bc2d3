import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { Originals } from './originals.js';
import type { DocumentsStore } from './queries.js';

export interface OriginalsReport {
  total: number;
  compared: number;
  damaged: { id: string; filename: string }[];
}

interface OriginalsCheckDeps {
  documents: Pick<DocumentsStore, 'countAll' | 'batchOfAll'>;
  originals: Pick<Originals, 'sizeOf' | 'open'>;
}

/**
 * Compares originals of all users with their sizes and hashes for a limited time. It starts at a
 * random document, so that repeated checks cover all of them.
 */
export const checkOriginals = async (
  { documents, originals }: OriginalsCheckDeps,
  budgetMs: number,
): Promise<OriginalsReport> => {
  const until = performance.now() + budgetMs;
  const total = await documents.countAll();
  const start = Math.floor(Math.random() * total);
  const report: OriginalsReport = { total, compared: 0, damaged: [] };
  let after: { id: string; skip: number } = { id: '', skip: start };
  while (report.compared < total) {
    const batch = await documents.batchOfAll(after);
    if (batch.length === 0 && after.id === '') break;
    for (const row of batch) {
      if (performance.now() >= until || report.compared === total) return report;
      const { id, filename, user_id, sha256, bytes } = row;
      const isWhole =
        (await originals.sizeOf(user_id, sha256)) === bytes &&
        (await computeHash(originals, user_id, sha256)) === sha256;
      if (!isWhole) report.damaged.push({ id, filename });
      report.compared++;
    }
    after = { id: batch.at(-1)?.id ?? '', skip: 0 };
  }
  return report;
};

const computeHash = async (
  originals: Pick<Originals, 'open'>,
  userId: string,
  sha256: string,
): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(originals.open(userId, sha256), hash);
  return hash.digest('hex');
};
