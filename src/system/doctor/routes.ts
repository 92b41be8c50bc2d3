import type { Exposure } from '../../accounts/module.js';
import type { ModelState } from '../../agents/module.js';
import type { Base } from '../../base.js';
import type { CapabilityFault } from '../../capabilities/module.js';
import type { IncompletePlatform, UnreadMessages } from '../../channels/module.js';
import type { OriginalsReport } from '../../documents/module.js';
import { iso } from '../../kernel/clock.js';
import { errorReason } from '../../kernel/failure.js';
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
  backupFinding,
  capabilityFindings,
  clockFinding,
  DISK_FULL_REMEDY,
  embedderFinding,
  exposureFindings,
  failedFinding,
  folderFindings,
  frontFindings,
  mailboxFindings,
  modelFindings,
  okFinding,
  originalFindings,
  platformFindings,
  proxyFindings,
  unreadFindings,
  unusedProxyFindings,
  voiceFinding,
  warnFinding,
} from './rules.js';
import { checkWork } from './work.js';

interface DoctorDeps {
  parts(): Promise<PartReport[]>;
  models: { states(): ModelState[]; embedder(userId: string): Promise<EmbedderReport> };
  backups: Backups;
  prove(): Promise<MasterKeyProof>;
  exposure(): Exposure;
  proxies: Pick<ProxyWatch, 'seen'>;
  tunnel: Pick<Tunnel, 'arrivesUnmarked'>;
  daemon: Daemon;
  /** A remark about a proxy in the environment that is not used; null if there is none. */
  proxy: string | null;
  checks: ModuleChecks;
}

interface ModuleChecks {
  /** Platforms that have linked channels but are not set up. */
  platforms(): Promise<IncompletePlatform[]>;
  /** Messages of platforms that could not be read since the start. */
  unread(): UnreadMessages[];
  /** Compares the originals of documents with their hashes, for at most `budgetMs`. */
  originals(budgetMs: number): Promise<OriginalsReport>;
  /** What does not work because of missing or damaged installations. */
  capabilities(): Promise<CapabilityFault[]>;
  /** Folders below which others may be indexed. */
  roots: string[];
  /** The engines that transcribe speech, in order. */
  voice(): Promise<EngineReport>;
}

/** Work that is later than this is reported. A backup or the pruning of old rows takes minutes. */
const LATE_MS = 15 * 60_000;
/** Time limit for comparing originals with their hashes. */
const ORIGINALS_MS = 2000;
/** As long as the longest other check. */
const FRONT_MS = 2000;

export const doctorResource = (base: Base, deps: DoctorDeps) => {
  const { clock, home } = base;
  const { parts, models, daemon } = deps;
  const store = doctorStore(base.store);
  return resource('doctor', doctor, {
    look: async (_input, by) => {
      // First, since the check of the parts writes a row, and a full disk accepts none.
      const recorded = await store.record(by.record()).catch((error: unknown) => {
        if (error instanceof Unavailable) return error;
        throw error;
      });
      const now = clock.now();
      const { capabilities } = deps.checks;
      const exposure = () => ({ ...deps.exposure(), port: daemon.port() });
      const checks: [string, () => Promise<Finding[]>][] = [
        ['home', () => checkFiles(home)],
        ['integrity', async () => [toIntegrityFinding(await store.integrity())]],
        ['vault', async () => toKeyFindings(await deps.prove())],
        ['audit', async () => [await checkAuditLog(store, daemon.heads, recorded)]],
        ['clock', async () => [clockFinding(now, await store.newest())]],
        [
          'exposure',
          async () => [...exposureFindings(exposure()), ...proxyFindings(deps.proxies.seen())],
        ],
        ['proxy', async () => unusedProxyFindings(deps.proxy)],
        ['front', async () => frontFindings(await deps.tunnel.arrivesUnmarked(FRONT_MS))],
        [
          'parts',
          async () =>
            toPartFindings(await parts(), modelFindings(models.states(), await capabilities())),
        ],
        ['backup', async () => [await ageOfBackup(store, deps.backups, now)]],
        ['scheduler', async () => toSchedulerFindings(daemon.late(LATE_MS))],
        ['work', () => checkWork(base.store, now)],
        ['log', async () => toLogFindings(daemon.recent.lost())],
        ['outbox', async () => [toOutboxFinding(await store.deadLetters())]],
        ['embedder', async () => [embedderFinding(await models.embedder(by.userId))]],
        ['capabilities', async () => capabilityFindings(await capabilities(), models.states())],
        ['documents', async () => originalFindings(await deps.checks.originals(ORIGINALS_MS))],
        [
          'folders',
          async () => [
            ...(await missingRoots(deps.checks.roots)),
            ...folderFindings(await store.failingFolders()),
          ],
        ],
        ['mailboxes', async () => mailboxFindings(await store.failingMailboxes())],
        ['voice', async () => [voiceFinding(await deps.checks.voice())]],
        ['platforms', async () => platformFindings(await deps.checks.platforms())],
        ['messages', async () => unreadFindings(deps.checks.unread())],
      ];
      const findings = await Promise.all(checks.map(([name, check]) => attempt(name, check)));
      return { at: iso(now), findings: findings.flat() };
    },
  });
};

/** A check that fails is a finding as well, and does not hide the others. */
const attempt = async (name: string, check: () => Promise<Finding[]>): Promise<Finding[]> => {
  try {
    return await check();
  } catch (error) {
    const full = storageFault(error);
    if (full !== null) return [failedFinding(name, full, DISK_FULL_REMEDY)];
    const why = errorReason(error);
    return [failedFinding(name, `the check failed: ${why}`.slice(0, 1000), LOGS)];
  }
};

const ageOfBackup = async (
  store: DoctorStore,
  { rows }: Backups,
  now: number,
): Promise<Finding> => {
  const [newest, begunAt] = await Promise.all([rows.newestDone(), store.begunAt()]);
  return backupFinding({ now, newestAt: newest?.created_at ?? null, begunAt });
};

const LOGS = 'adjutant logs --last 50';

const toIntegrityFinding = (found: Awaited<ReturnType<DoctorStore['integrity']>>): Finding => {
  if (found.problem !== null) {
    const detail = `the database is damaged: ${found.problem}`.slice(0, 1000);
    return failedFinding('integrity', detail, 'stop the daemon and restore the last good backup');
  }
  const checked = `${found.checked} ${found.checked === 1 ? 'table' : 'tables'}`;
  return okFinding(
    'integrity',
    found.isAll
      ? `${checked} checked, no damage`
      : `${checked} checked, no damage (time limit reached)`,
  );
};

const toKeyFindings = ({ opened, shut, isChanging }: MasterKeyProof): Finding[] => [
  shut.length === 0
    ? okFinding('vault', `the master key opens the secrets (${opened} tested)`)
    : failedFinding(
        'vault',
        `the master key does not open all values of ${shut.join(', ')}`,
        'restore the key that sealed them: keys/master.key or ADJUTANT_MASTER_KEY',
      ),
  ...(isChanging
    ? [warnFinding('rekey', 'a change of the master key is unfinished', 'adjutant vault rekey')]
    : []),
];

const toLogFindings = ({ lostLines, reason }: LostLines): Finding[] =>
  lostLines === 0
    ? []
    : [
        failedFinding(
          'log',
          `the log cannot be written (${reason}): ${lostLines} lines lost so far`,
          'free disk space, or unblock the reader of the log. Newest lines: adjutant logs --remote',
        ),
      ];

const toSchedulerFindings = (late: LateSource[]): Finding[] =>
  late.map(({ name, dueAt, error }) =>
    failedFinding(
      'scheduler',
      `${name}: due since ${dueAt}, ${error === null ? 'running' : `fails: ${error}`}`.slice(
        0,
        1000,
      ),
      LOGS,
    ),
  );

const toOutboxFinding = (found: { status: string; count: number }[]): Finding => {
  const [first] = found;
  if (!first) return okFinding('outbox', 'no undelivered messages');
  const counts = found.map(({ status, count }) => `${count} ${DEAD_LETTERS[status] ?? status}`);
  const remedy = `adjutant outbox list --status ${first.status}`;
  return warnFinding('outbox', counts.join(', '), remedy);
};

const DEAD_LETTERS: Record<string, string> = {
  failed: 'not delivered',
  unknown: 'possibly not delivered',
};

const REMEDIES: Record<string, string> = {
  database: `${LOGS}   The disk must be writable and not full`,
  queue: `${LOGS}   Running agents: adjutant agents list --status running`,
  channels:
    'adjutant outbox list --status failed   Possibly not delivered: adjutant outbox list --status unknown',
  disk: DISK_FULL_REMEDY,
  capabilities: 'correct the setting, then: adjutant restart',
  tunnel: 'adjutant tunnel check, then: adjutant tunnel get',
  confinement: 'install bubblewrap (apt install bubblewrap), then: adjutant restart',
};
const SEVERITY = { ok: 'ok', warn: 'warn', down: 'fail' } as const;

/** Findings about single models replace the summary of the part `models`. */
const toPartFindings = (parts: PartReport[], ill: Finding[]): Finding[] =>
  parts.flatMap((part) => (part.name === 'models' && ill.length > 0 ? ill : [ofPart(part)]));

const ofPart = ({ name, status, detail }: PartReport): Finding => ({
  name,
  status: SEVERITY[status],
  detail: detail.slice(0, 1000) || 'ok',
  remedy: status === 'ok' ? null : (REMEDIES[name] ?? LOGS),
});
