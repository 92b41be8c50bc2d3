import { auditReader, checkChain, headProblem } from '../../accounts/module.js';
import type { HeadsState } from '../../store/audit/headcheck.js';
import { Unavailable } from '../../store/engine/protocol.js';
import type { ExternalHeads } from '../../store/externalheads.js';
import { storageFault } from '../maintenance/partreport.js';
import type { Finding } from './contract.js';
import type { DoctorStore } from './queries.js';
import { DISK_FULL_REMEDY, failedFinding, okFinding, warnFinding } from './rules.js';

/** Time limit for checking the chain. */
const CHAIN_MS = 2000;

/**
 * `recorded` is the number of an entry whose head had to be written before this check, or the reason
 * why no entry can be written.
 */
export const checkAuditLog = async (
  store: DoctorStore,
  { syslog }: ExternalHeads,
  recorded: number | Unavailable,
): Promise<Finding> => {
  const reader = auditReader(store.look);
  const chain = await checkChain(reader, CHAIN_MS);
  const last = recorded instanceof Unavailable ? (chain.head?.number ?? 0) : recorded;
  const problem = chain.problem ?? (await headProblem(reader, last));
  if (problem) return failedFinding('audit', problem.message, VERIFY);
  if (recorded instanceof Unavailable) {
    const full = storageFault(recorded);
    if (full !== null) return failedFinding('audit', `its entries ${full}`, DISK_FULL_REMEDY);
    return failedFinding('audit', recorded.message.slice(0, 1000), 'adjutant logs --last 50');
  }
  const states = await store.look('headsState', undefined);
  const behind = states.filter(({ newest }) => (newest ?? 0) < recorded);
  if (behind.length > 0) return behindFinding(behind);
  const why = syslog?.failure() ?? null;
  if (why !== null) {
    const detail = `its heads cannot be sent to ${syslog?.to}: ${why}`;
    return warnFinding(
      'audit',
      detail.slice(0, 1000),
      'check the network, or change ADJUTANT_AUDIT_HEADS',
    );
  }
  return okFinding('audit', whereHeadsGo(states, syslog, chain));
};

const whereHeadsGo = (
  states: HeadsState[],
  syslog: ExternalHeads['syslog'],
  chain: { entries: number; isAll: boolean },
): string => {
  const sent = syslog ? [`sent to ${syslog.to} (UDP does not confirm delivery)`] : [];
  const names = states.map(({ name }) => name).join(' and ');
  const checked = chain.isAll
    ? []
    : [`the first ${chain.entries} entries are valid (time limit reached)`];
  return [`its heads are written to ${names}`, ...sent, ...checked].join(', and ');
};

const VERIFY =
  'adjutant audit verify   and compare its head with copies elsewhere: see "The audit log" in the README';

const behindFinding = (behind: HeadsState[]): Finding => {
  const names = behind.map(({ name }) => name).join(' and ');
  return warnFinding(
    'audit',
    `its heads cannot be written to ${names}`.slice(0, 1000),
    'free disk space and make the file writable for the daemon. Reason: adjutant logs --last 50',
  );
};
