import type { ModelState } from '../../agents/models.js';
import type { Unset } from '../../channels/problems.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { LostLines } from '../../kernel/linewriter.js';
import { resource } from '../../kernel/route.js';
import type { MasterKeyProof } from '../../secrets/masterkeyproof.js';
import type { OutsideHeads } from '../../store/externalheads.js';
import type { PartReport } from '../maintenance/partreport.js';
import { doctor, type Finding } from './contract.js';
import { lookAtFiles } from './files.js';
import { lookAtHeads } from './heads.js';
import type { DoctorStore } from './queries.js';
import {
  backupOf,
  clockOf,
  type DoctorExposure,
  exposureFindings,
  failedFinding,
  modelsOf,
  okFinding,
  platformsOf,
  warnFinding,
} from './rules.js';

interface DoctorDeps {
  store: DoctorStore;
  clock: Clock;
  /** Checks every part now. */
  parts(): Promise<PartReport[]>;
  models(): ModelState[];
  /** Returns the newest backup whose file is not known to be removed. */
  newestBackup(): Promise<{ created_at: string } | undefined>;
  prove(): Promise<MasterKeyProof>;
  /** Places outside the home to which the heads of the audit log are written. */
  outside: OutsideHeads;
  home: string;
  exposure(): DoctorExposure;
  /** Returns the lines of the log that could not be written. */
  lostLines(): LostLines;
  /** Returns the platforms that have linked channels but are not set up. */
  unset(): Promise<Unset[]>;
}

export const doctorResource = (deps: DoctorDeps) =>
  resource('doctor', doctor, {
    look: async (_input, by) => {
      const { store, clock, home } = deps;
      // Comes first, because the check of the parts writes a row.
      const recorded = await store.record(by.record());
      const now = clock.now();
      const looks: [string, () => Promise<Finding[]>][] = [
        ['home', () => lookAtFiles(home)],
        ['integrity', async () => [integrityOf(await store.integrity())]],
        ['vault', async () => proofOf(await deps.prove())],
        ['audit', async () => [await lookAtHeads({ ...deps, recorded })]],
        ['clock', async () => [clockOf(now, await store.newest())]],
        ['exposure', async () => exposureFindings(deps.exposure())],
        ['parts', async () => partsOf(await deps.parts(), deps.models())],
        ['backup', async () => [await ageOfBackup(deps, now)]],
        ['log', async () => logOf(deps.lostLines())],
        ['outbox', async () => [outboxOf(await store.deadLetters())]],
        ['platforms', async () => platformsOf(await deps.unset())],
      ];
      const findings = await Promise.all(looks.map(([name, look]) => attempt(name, look)));
      return { at: iso(now), findings: findings.flat() };
    },
  });

/** Runs one check. A check that fails is a finding too, and does not hide the others. */
const attempt = async (name: string, look: () => Promise<Finding[]>): Promise<Finding[]> => {
  try {
    return await look();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [failedFinding(name, `it could not be looked at: ${why}`.slice(0, 1000), LOGS)];
  }
};

const ageOfBackup = async (deps: DoctorDeps, now: number): Promise<Finding> => {
  const [newest, begunAt] = await Promise.all([deps.newestBackup(), deps.store.begunAt()]);
  return backupOf({ now, newestAt: newest?.created_at ?? null, begunAt });
};

const LOGS = 'adjutant logs --last 50';

const integrityOf = (found: Awaited<ReturnType<DoctorStore['integrity']>>): Finding => {
  if (found.problem !== null) {
    const detail = `the database is damaged: ${found.problem}`.slice(0, 1000);
    return failedFinding(
      'integrity',
      detail,
      'stop the daemon and go back to the last good copy of the home',
    );
  }
  const checked = `${found.checked} ${found.checked === 1 ? 'table' : 'tables'}`;
  return okFinding(
    'integrity',
    found.isAll ? `${checked} whole` : `${checked} whole, no time for more`,
  );
};

const proofOf = ({ opened, shut, isChanging }: MasterKeyProof): Finding[] => [
  shut.length === 0
    ? okFinding('vault', `opens, ${opened} tried`)
    : failedFinding(
        'vault',
        `the master key does not open all of ${shut.join(', ')}`,
        'put the key back with which they were sealed: keys/master.key or ADJUTANT_MASTER_KEY',
      ),
  ...(isChanging
    ? [
        warnFinding(
          'rekey',
          'a change of the master key was begun and not ended',
          'adjutant vault rekey',
        ),
      ]
    : []),
];

const logOf = ({ lostLines, reason }: LostLines): Finding[] =>
  lostLines === 0
    ? []
    : [
        failedFinding(
          'log',
          `it cannot be written (${reason}): ${lostLines} lines are lost so far`,
          'make room on its disk, or let what reads it go on; the newest lines: adjutant logs --remote',
        ),
      ];

const outboxOf = (count: number): Finding =>
  count === 0
    ? okFinding('outbox', 'nothing undelivered')
    : warnFinding(
        'outbox',
        `${count} ${count === 1 ? 'message was' : 'messages were'} not delivered, or may not have been`,
        'adjutant outbox list --status failed',
      );

const REMEDIES: Record<string, string> = {
  database: `${LOGS}   It needs a disk that can be written and is not full`,
  queue: `${LOGS}   What runs: adjutant agents list --status running`,
  channels: 'adjutant outbox list --status failed',
  disk: 'make room: nothing can be kept otherwise',
  tunnel: 'adjutant tunnel check, then: adjutant tunnel get',
  confinement: 'install bubblewrap (apt install bubblewrap), then: adjutant restart',
};
const SEVERITY = { ok: 'ok', warn: 'warn', down: 'fail' } as const;

/**
 * Builds the findings of the parts. Findings about single models replace the summary of the part
 * `models`.
 */
const partsOf = (parts: PartReport[], states: ModelState[]): Finding[] => {
  const ill = modelsOf(states);
  return parts.flatMap((part) => (part.name === 'models' && ill.length > 0 ? ill : [ofPart(part)]));
};

const ofPart = ({ name, status, detail }: PartReport): Finding => ({
  name,
  status: SEVERITY[status],
  detail: detail.slice(0, 1000) || 'well',
  remedy: status === 'ok' ? null : (REMEDIES[name] ?? LOGS),
});
