import type { HeadsFound, HeadsPlace } from '../../store/audit/headcheck.js';
import type { LostHead } from '../../store/audit/headrows.js';
import type { AuditReader } from '../../store/audit/offline.js';
import type { Store } from '../../store/store.js';

export const auditReader = (look: Store['look']): AuditReader => ({
  checkAudit: (input) => look('checkAudit', input),
  contradictedHeads: (input) => look('contradictedHeads', input),
  lostHead: () => look('lostHead', undefined),
});

export interface HeadProblem {
  /** The first invalid or missing entry. */
  number: number;
  kind: 'cut' | 'rewritten';
  message: string;
}

interface ContradictedHeads {
  name: string;
  /** The first entry that differs from the file. */
  number: number;
}

/**
 * Compares the files of heads with a log whose newest entry has the number `last`. A chain may be
 * valid and yet not be the one that was written.
 */
export const headProblem = async (
  reader: AuditReader,
  last: number,
): Promise<HeadProblem | null> => {
  const { contradicted, failures } = await readFiles(reader);
  const found = contradicted.length > 0 ? contradictedProblem(contradicted, last) : null;
  const lost = lostProblem(await reader.lostHead());
  const [first] = [found, lost].filter((one) => one !== null).sort((a, b) => a.number - b.number);
  if (first) return first;
  if (failures.length === 0) return null;
  const message = `Cannot verify that the newest entries are complete: ${failures.join('; ')}`;
  return { number: last + 1, kind: 'cut', message: message.slice(0, 500) };
};

const readFiles = async (reader: AuditReader) => {
  const firstOf = new Map<string, number>();
  const failures: string[] = [];
  for (let next: HeadsPlace | null = { place: 0, from: 0 }; next !== null; ) {
    const found: HeadsFound = await reader.contradictedHeads(next);
    if (found.failure !== null) failures.push(found.failure);
    for (const { number } of found.heads) {
      firstOf.set(found.name, Math.min(number, firstOf.get(found.name) ?? number));
    }
    next = found.next;
  }
  const contradicted = [...firstOf].map(([name, number]): ContradictedHeads => ({ name, number }));
  return { contradicted, failures };
};

const contradictedProblem = (contradicted: ContradictedHeads[], last: number): HeadProblem => {
  const number = Math.min(...contradicted.map((one) => one.number));
  const names = contradicted.map(({ name }) => name).join(' and ');
  const contain = contradicted.length === 1 ? 'contains' : 'contain';
  if (number > last) {
    const message = `The log ends at entry ${last}, but ${names} ${contain} entry ${number}`;
    return { number: last + 1, kind: 'cut', message: message.slice(0, 500) };
  }
  const message = `Entry ${number} differs from ${names}: entries were removed or rewritten`;
  return { number, kind: 'rewritten', message: message.slice(0, 500) };
};

const lostProblem = (lost: LostHead | null): HeadProblem | null => {
  if (!lost) return null;
  const { number, file } = lost;
  const message = `Cannot verify that no entries before entry ${number} were removed: ${file} was missing when the entry was written`;
  return { number, kind: 'cut', message: message.slice(0, 500) };
};
