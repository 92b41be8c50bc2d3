import type { AuditBreak, AuditCheck } from '../../store/audit/check.js';
import type { AuditReader } from '../../store/audit/offline.js';
import type { AuditHead } from '../../store/engine/protocol.js';
import type { AuditVerdict } from './contract.js';
import { headProblem } from './heads.js';

type Problem = NonNullable<AuditVerdict['problem']>;

interface ChainCheck {
  entries: number;
  /** Number of entries that were changed. */
  broken: number;
  first: AuditBreak | null;
  head: AuditHead | null;
}

/**
 * Checks every entry against its chain, and the chain against the files of its heads. The reader
 * thread checks some hundred entries at a time and serves others in between. Entries that are
 * written meanwhile are checked too.
 */
export const verifyAuditLog = async (reader: AuditReader): Promise<AuditVerdict> => {
  const { entries, head, problem: broken } = await checkChain(reader);
  const problem = earlier(broken, await headProblem(reader, head?.number ?? 0));
  return { ok: problem === null, entries, head, problem };
};

/** The result of comparing entries with their chain, from the first one on. */
interface ChainVerdict extends Pick<AuditVerdict, 'entries' | 'head' | 'problem'> {
  /** False if there was no time for all entries. */
  isAll: boolean;
}

/** Compares the entries with their chain, for so many milliseconds. */
export const checkChain = async (
  reader: AuditReader,
  budgetMs = Number.POSITIVE_INFINITY,
): Promise<ChainVerdict> => {
  const end = performance.now() + budgetMs;
  const found: ChainCheck = { entries: 0, broken: 0, first: null, head: null };
  let step: AuditCheck;
  do {
    step = await reader.checkAudit({ after: found.head });
    found.entries += step.checked;
    found.broken += step.broken;
    found.first ??= step.first;
    found.head = step.last;
  } while (!step.isEnd && performance.now() < end);
  const { entries, head } = found;
  return { entries, head, problem: chainProblem(found), isAll: step.isEnd };
};

const chainProblem = ({ entries, broken, first }: ChainCheck): Problem | null => {
  if (!first) return null;
  const { number, kind } = first;
  if (kind === 'missing') {
    return { number, kind, message: `Entry ${number} is missing, and later ones are there` };
  }
  if (entries > 1 && broken === entries) {
    const message = `None of the ${entries} entries holds: the log was written anew, or the master key is another`;
    return { number, kind: 'rewritten', message };
  }
  return { number, kind, message: `Entry ${number} is not what was written` };
};

/** Returns the problem that comes first; for the same entry the chain's, which is more exact. */
const earlier = (chain: Problem | null, head: Problem | null): Problem | null =>
  chain && (!head || chain.number <= head.number) ? chain : head;
