import type { AuditBreak, AuditCheck } from '../../store/audit/check.js';
import type { AuditReader } from '../../store/audit/offline.js';
import type { AuditHead } from '../../store/engine/protocol.js';
import type { AuditVerdict } from './contract.js';
import { headProblem } from './heads.js';

type Problem = NonNullable<AuditVerdict['problem']>;

interface ChainCheck {
  entries: number;
  /** The number of changed entries. */
  broken: number;
  first: AuditBreak | null;
  head: AuditHead | null;
}

/** Entries that are written during the check are checked too. */
export const verifyAuditLog = async (reader: AuditReader): Promise<AuditVerdict> => {
  const { entries, head, problem: broken } = await checkChain(reader);
  const problem = earlier(broken, await headProblem(reader, head?.number ?? 0));
  return { ok: problem === null, entries, head, problem };
};

interface ChainVerdict extends Pick<AuditVerdict, 'entries' | 'head' | 'problem'> {
  /** False if time ran out before the end of the log. */
  isAll: boolean;
}

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
    return { number, kind, message: `Entry ${number} is missing, but later entries exist` };
  }
  if (entries > 1 && broken === entries) {
    const message = `None of the ${entries} entries is valid: the log was rewritten, or the master key differs`;
    return { number, kind: 'rewritten', message };
  }
  return { number, kind, message: `Entry ${number} was changed` };
};

/** For the same entry, the problem of the chain is more exact. */
const earlier = (chain: Problem | null, head: Problem | null): Problem | null =>
  chain && (!head || chain.number <= head.number) ? chain : head;
