import { headProblem } from '../../accounts/module.js';
import type { HeadsState } from '../../store/audit/headcheck.js';
import type { OutsideHeads } from '../../store/externalheads.js';
import type { Finding } from './contract.js';
import type { DoctorStore } from './queries.js';
import { failedFinding, okFinding, warnFinding } from './rules.js';

/**
 * Checks where the heads of the audit log are written, if they get there, and if they agree with
 * the log. `recorded` is the number of an entry whose head had to be written before this check.
 */
export const checkHeads = async (
  store: DoctorStore,
  { syslog }: OutsideHeads,
  recorded: number,
): Promise<Finding> => {
  const states = await store.look('headsState', undefined);
  const problem = await headProblem(store.look, recorded);
  if (problem) return failedFinding('audit', problem.message, VERIFY);
  const behind = states.filter(({ newest }) => (newest ?? 0) < recorded);
  if (behind.length > 0) return sayBehind(behind);
  const why = syslog?.failure() ?? null;
  if (why !== null) {
    const detail = `its heads cannot be sent to ${syslog?.to}: ${why}`;
    return warnFinding(
      'audit',
      detail.slice(0, 1000),
      'see to the network, or change ADJUTANT_AUDIT_HEADS',
    );
  }
  const sent = syslog ? [`sent to ${syslog.to}; UDP does not tell whether they arrive`] : [];
  const names = states.map(({ name }) => name).join(' and ');
  return okFinding('audit', [`its heads are written to ${names}`, ...sent].join(', and '));
};

const VERIFY =
  'adjutant audit verify   and hold its head against copies elsewhere: see "The audit log" in the README';

const sayBehind = (behind: HeadsState[]): Finding => {
  const names = behind.map(({ name }) => name).join(' and ');
  return warnFinding(
    'audit',
    `its heads cannot be written to ${names}`.slice(0, 1000),
    'make room, and let the daemon write there; why it could not: adjutant logs --last 50',
  );
};
