import type { Exposure } from '../../accounts/module.js';
import type { ModelState } from '../../agents/module.js';
import type { Base } from '../../base.js';
import type { CapabilityFault } from '../../capabilities/module.js';
import type { IncompletePlatform, UnreadMessages } from '../../channels/module.js';
import type { OriginalsReport } from '../../documents/module.js';
import { iso } from '../../kernel/clock.js';
import type { LostLines } from '../../kernel/linewriter.js';
import type { ProxyWatch } from '../../kernel/proxywatch.js';
import { resource } from '../../kernel/route.js';
import type { EmbedderReport } from '../../knowledge/module.js';
import type { LateSource } from '../../schedule/module.js';
import type { MasterKeyProof } from '../../secrets/module.js';
import { Unavailable } from '../../store/engine/protocol.js';
import type { EngineReport } from '../../voice/module.js';
import type { Backups } from '../backup/backups.js';
import type { Daemon } from '../daemon.js';
import type { PartReport } from '../health/contract.js';
import { storageFault } from '../maintenance/partreport.js';
import type { Tunnel } from '../tunnel/tunnel.js';
import { doctor, type Finding } from './contract.js';
import { checkFiles, missingRoots } from './files.js';
import { checkAuditLog } from './heads.js';
import { type DoctorStore, doctorStore } from './queries.js';
import {
  backupOf,
  capabilityFindings,
  clockOf,
  embedderOf,
  exposureFindings,
  failedFinding,
  foldersOf,
  frontFindings,
  mailboxesOf,
  modelsOf,
  okFinding,
  originalsOf,
  platformsOf,
  proxyFindings,
  ROOM,
  unreadOf,
  unusedProxyFindings,
  voiceOf,
  warnFinding,
} from './rules.js';
import { checkWork } from './work.js';

interface DoctorDeps {
  /** Checks every part now. */
  parts(): Promise<PartReport[]>;
  /** The models, and what makes vectors of texts. */
  models: { states(): ModelState[]; embedder(userId: string): Promise<EmbedderReport> };
  backups: Backups;
  prove(): Promise<MasterKeyProof>;
  exposure(): Exposure;
  proxies: Pick<ProxyWatch, 'seen'>;
  tunnel: Pick<Tunnel, 'arrivesUnmarked'>;
  daemon: Daemon;
  /** The sentence about a proxy that is named and not used; null: none is. */
  proxy: string | null;
  checks: ModuleChecks;
}

/** The checks of other modules. */
interface ModuleChecks {
  /** Returns the platforms that have linked channels but are not set up. */
  platforms(): Promise<IncompletePlatform[]>;
  /** Returns the messages of platforms that could not be read since the start. */
  unread(): UnreadMessages[];
  /** Compares the originals of documents with their hashes, for so many milliseconds. */
  originals(budgetMs: number): Promise<OriginalsReport>;
  /** Lists what does not work because of what is, or is not, installed. */
  capabilities(): Promise<CapabilityFault[]>;
  /** The folders below which others may be indexed. */
  roots: string[];
  /** Tells which engines transcribe speech, in their order. */
  voice(): Promise<EngineReport>;
}

/** Ours: the time by which work may be late. A backup or the pruning of old rows takes minutes. */
const LATE_MS = 15 * 60_000;
/** Ours: so long a watched mailbox may be out of reach. */
const UNREACHED_MS = 60 * 60_000;
/** Ours: the time to compare originals with their hashes. */
const ORIGINALS_MS = 2000;
/** As long as the longest other check, so that the doctor takes no longer with a public address. */
const FRONT_MS = 2000;

export const doctorResource = (base: Base, deps: DoctorDeps) => {
  const { clock, home } = base;
  const { parts, models, daemon } = deps;
  const store = doctorStore(base.store);
  return resource('doctor', doctor, {
    look: async (_input, by) => {
      // Comes first, because the check of the parts writes a row. On a full disk no row is written.
      const recorded = await store.record(by.record()).catch((error: unknown) => {
        if (error instanceof Unavailable) return error;
        throw error;
      });
      const now = clock.now();
      const { capabilities } = deps.checks;
      const exposure = () => ({ ...deps.exposure(), port: daemon.port() });
      const checks: [string, () => Promise<Finding[]>][] = [
        ['home', () => checkFiles(home)],
        ['integrity', async () => [integrityOf(await store.integrity())]],
        ['vault', async () => proofOf(await deps.prove())],
        ['audit', async () => [await checkAuditLog(store, daemon.heads, recorded)]],
        ['clock', async () => [clockOf(now, await store.newest())]],
        [
          'exposure',
          async () => [...exposureFindings(exposure()), ...proxyFindings(deps.proxies.seen())],
        ],
        ['proxy', async () => unusedProxyFindings(deps.proxy)],
        ['front', async () => frontFindings(await deps.tunnel.arrivesUnmarked(FRONT_MS))],
        [
          'parts',
          async () => partsOf(await parts(), modelsOf(models.states(), await capabilities())),
        ],
        ['backup', async () => [await ageOfBackup(store, deps.backups, now)]],
        ['scheduler', async () => schedulerOf(daemon.late(LATE_MS))],
        ['work', () => checkWork(base.store, now)],
        ['log', async () => logOf(daemon.recent.lost())],
        ['outbox', async () => [outboxOf(await store.deadLetters())]],
        ['embedder', async () => [embedderOf(await models.embedder(by.userId))]],
        ['capabilities', async () => capabilityFindings(await capabilities(), models.states())],
        ['documents', async () => originalsOf(await deps.checks.originals(ORIGINALS_MS))],
        [
          'folders',
          async () => [
            ...(await missingRoots(deps.checks.roots)),
            ...foldersOf(await store.failingFolders()),
          ],
        ],
        [
          'mailboxes',
          async () => mailboxesOf(await store.unreachedMailboxes(iso(now - UNREACHED_MS))),
        ],
        ['voice', async () => [voiceOf(await deps.checks.voice())]],
        ['platforms', async () => platformsOf(await deps.checks.platforms())],
        ['messages', async () => unreadOf(deps.checks.unread())],
      ];
      const findings = await Promise.all(checks.map(([name, check]) => attempt(name, check)));
      return { at: iso(now), findings: findings.flat() };
    },
  });
};

/** Runs one check. A check that fails is a finding too, and does not hide the others. */
const attempt = async (name: string, check: () => Promise<Finding[]>): Promise<Finding[]> => {
  try {
    return await check();
  } catch (error) {
    const full = storageFault(error);
    if (full !== null) return [failedFinding(name, full, ROOM)];
    const why = error instanceof Error ? error.message : String(error);
    return [failedFinding(name, `it could not be looked at: ${why}`.slice(0, 1000), LOGS)];
  }
};

const ageOfBackup = async (
  store: DoctorStore,
  { rows }: Backups,
  now: number,
): Promise<Finding> => {
  const [newest, begunAt] = await Promise.all([rows.newestDone(), store.begunAt()]);
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
    found.isAll
      ? `${checked} checked, no damage`
      : `${checked} checked, no damage; no time for more`,
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

const schedulerOf = (late: LateSource[]): Finding[] =>
  late.map(({ name, dueAt, error }) =>
    failedFinding(
      'scheduler',
      `${name}: due since ${dueAt}, ${error === null ? 'under way' : `fails: ${error}`}`.slice(
        0,
        1000,
      ),
      LOGS,
    ),
  );

const outboxOf = (found: { status: string; count: number }[]): Finding => {
  const [first] = found;
  if (!first) return okFinding('outbox', 'nothing undelivered');
  const said = found.map(({ status, count }) => `${count} ${DEAD_LETTERS[status] ?? status}`);
  const remedy = `adjutant outbox list --status ${first.status}`;
  return warnFinding('outbox', said.join(', '), remedy);
};

const DEAD_LETTERS: Record<string, string> = {
  failed: 'not delivered',
  unknown: 'perhaps not delivered',
};

const REMEDIES: Record<string, string> = {
  database: `${LOGS}   It needs a disk that can be written and is not full`,
  queue: `${LOGS}   What runs: adjutant agents list --status running`,
  channels: 'adjutant outbox list --status failed',
  disk: ROOM,
  capabilities: 'correct the setting, then: adjutant restart',
  tunnel: 'adjutant tunnel check, then: adjutant tunnel get',
  confinement: 'install bubblewrap (apt install bubblewrap), then: adjutant restart',
};
const SEVERITY = { ok: 'ok', warn: 'warn', down: 'fail' } as const;

/**
 * Builds the findings of the parts. Findings about single models replace the summary of the part
 * `models`.
 */
const partsOf = (parts: PartReport[], ill: Finding[]): Finding[] =>
  parts.flatMap((part) => (part.name === 'models' && ill.length > 0 ? ill : [ofPart(part)]));

const ofPart = ({ name, status, detail }: PartReport): Finding => ({
  name,
  status: SEVERITY[status],
  detail: detail.slice(0, 1000) || 'well',
  remedy: status === 'ok' ? null : (REMEDIES[name] ?? LOGS),
});
