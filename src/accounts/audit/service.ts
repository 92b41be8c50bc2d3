import type { AuditBreak, AuditCheck } from '../../store/audit/check.js';
import type { AuditHead } from '../../store/engine/protocol.js';
import type { AuditVerdict } from './contract.js';
import { headProblem } from './heads.js';
import type { AuditStore } from './queries.js';

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
export const verifyAuditLog = async ({ look }: Pick<AuditStore, 'look'>): Promise<AuditVerdict> => {
  const found: ChainCheck = { entries: 0, broken: 0, first: null, head: null };
  let step: AuditCheck;
  do {
    step = await look('checkAudit', { after: found.head });
    found.entries += step.checked;
    found.broken += step.broken;
    found.first ??= step.first;
    found.head = step.last;
  } while (!step.isEnd);
  const problem = earlier(chainProblem(found), await headProblem(look, found.head?.number ?? 0));
  return { ok: problem === null, entries: found.entries, head: found.head, problem };
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
