import { statfs } from 'node:fs/promises';
import type { Models } from '../../agents/module.js';
import type { Base } from '../../base.js';
import type { Queue } from '../../jobs/module.js';
import { errorReason } from '../../kernel/failure.js';
import { reportOutbox } from '../../outbound/module.js';
import { Unavailable } from '../../store/engine/protocol.js';
import type { PartReport } from '../health/contract.js';
import type { Tunnel } from '../tunnel/tunnel.js';

export interface PartsDeps {
  queue: Queue;
  /** Queue of outbound messages. */
  outgoing: Queue;
  models: Models;
  tunnel: Tunnel;
  confinement: string;
  /** One sentence for each invalid setting of capabilities. */
  settingFaults(): Promise<string[]>;
}

const LOW_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;
const LATE_MS = 60_000;
const MANY_BYTES = 1024 ** 2;

/** A check that fails is reported and not thrown. */
export const createPartReports = (base: Base, deps: PartsDeps): (() => Promise<PartReport[]>) => {
  const database = createDatabaseCheck(base);
  return async () => {
    const faults = await deps.settingFaults();
    return Promise.all([
      attempt('database', database),
      attempt('queue', () => queue(base, deps)),
      attempt('channels', () => reportOutbox(base, deps.outgoing)),
      attempt('disk', () => disk(base)),
      attempt('models', async () => models(deps)),
      ...(deps.tunnel.row() === null ? [] : [attempt('tunnel', async () => tunnel(deps))]),
      attempt('confinement', async () => ({
        status: deps.confinement.startsWith('off') ? 'warn' : 'ok',
        detail: deps.confinement,
      })),
      ...(faults.length === 0 ? [] : [attempt('capabilities', () => settings(faults))]),
    ]);
  };
};

const MAX_DETAIL_LENGTH = 500;

const settings = async (faults: string[]): Promise<PartFinding> => ({
  status: 'warn',
  detail: faults.join('; ').slice(0, MAX_DETAIL_LENGTH),
});

interface PartFinding {
  status?: PartReport['status'];
  detail: string;
}

const attempt = async (name: string, check: () => Promise<PartFinding>): Promise<PartReport> => {
  const since = performance.now();
  const took = (): number => Math.round((performance.now() - since) * 100) / 100;
  try {
    const { status = 'ok', detail } = await check();
    return { name, status, latencyMs: took(), detail };
  } catch (error) {
    const detail = storageFault(error) ?? errorReason(error);
    return { name, status: 'down', latencyMs: took(), detail };
  }
};

/** The message for a full disk; null for another error. */
export const storageFault = (error: unknown): string | null =>
  error instanceof Unavailable && error.isDiskFull ? 'cannot be written: the disk is full' : null;

/**
 * A real write and read show a full or read-only disk. A disk that refused a delivery may still accept
 * a few bytes, so after a refusal the check must write many bytes once.
 */
const createDatabaseCheck = ({ store }: Base): (() => Promise<PartFinding>) => {
  const sql = `INSERT INTO facts (name, value) VALUES ('last_look', ?)
    ON CONFLICT DO UPDATE SET value = excluded.value`;
  let forgiven = 0;
  return async () => {
    const refusals = store.refusals();
    const bytes = refusals > forgiven ? MANY_BYTES : 0;
    await store.transact([{ sql, parameters: [String(Math.random()).padEnd(bytes)] }]);
    await store.db.selectFrom('facts').select('name').limit(1).execute();
    forgiven = refusals;
    return { detail: `schema ${store.opened.schema}` };
  };
};

/** Waiting time of the oldest queued execution in milliseconds; null if none waits. */
export const longestWait = async ({ store, clock }: Base): Promise<number | null> => {
  const oldest = await store.look('oldestWait', null);
  return oldest === null ? null : Math.max(0, clock.now() - Date.parse(oldest));
};

const queue = async (base: Base, { queue }: PartsDeps): Promise<PartFinding> => {
  const { waiting, running } = queue.totals();
  const waitMs = await longestWait(base);
  const oldest = waitMs === null ? '' : `, oldest ${(waitMs / 1000).toFixed(1)} s`;
  const most = Math.max(0, ...queue.crowded().map(queue.waiting));
  const crowded = most === 0 ? '' : `; ${most} of 100000 for one hook`;
  return {
    status: (waitMs ?? 0) > LATE_MS || most > 0 ? 'warn' : 'ok',
    detail: `${waiting} waiting${oldest}, ${running} running${crowded}`,
  };
};

/** Models that are down or cool down are a warning only, since another model answers instead. */
const models = ({ models }: PartsDeps): PartFinding => {
  const isIll = (status: string) => status === 'down' || status === 'cooling';
  const all = models.states();
  // A narrow terminal cuts off the end.
  const states = all.toSorted((a, b) => Number(isIll(b.status)) - Number(isIll(a.status)));
  const parts = states.map(({ name, status }) => (isIll(status) ? `${name} (${status})` : name));
  return {
    status: states.some(({ status }) => isIll(status)) ? 'warn' : 'ok',
    detail: parts.join(', '),
  };
};

const disk = async ({ home }: Base): Promise<PartFinding> => {
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  const status = free < FULL_BYTES ? 'down' : free < LOW_BYTES ? 'warn' : 'ok';
  return { status, detail: freeText(free) };
};

const freeText = (bytes: number): string =>
  bytes < LOW_BYTES
    ? `${Math.floor(bytes / 1024 ** 2)} MiB free`
    : `${(bytes / 1024 ** 3).toFixed(1)} GiB free`;

const tunnel = ({ tunnel }: PartsDeps): PartFinding => {
  const row = tunnel.row();
  if (!row || row.is_on === 0) return { detail: `${row?.provider ?? 'tunnel'} is off` };
  const { status, detail } = tunnel.process();
  const isUp = row.provider === 'proxy' || status === 'running';
  const check = tunnel.lastCheck();
  const address = tunnel.address();
  const reach = tunnel.reach();
  const parts = [`${row.provider} ${isUp ? 'up' : `${status}: ${detail ?? 'not up yet'}`}`];
  if (address !== null) parts.push(address);
  if (check?.ok) parts.push(`${check.stages.length} of ${check.stages.length} checked`);
  else if (check) parts.push(`check failed at stage: ${check.failure?.stage}`);
  if (tunnel.trust()?.header === null) {
    parts.push('no client addresses, so limits per address do not apply');
  }
  if (isUp && reach === 'unverified') parts.push('not verified (run adjutant tunnel check)');
  const isWell = isUp && reach !== 'unverified' && reach !== 'failed' && check?.ok !== false;
  return { status: isWell ? 'ok' : 'warn', detail: parts.join(', ').slice(0, 500) };
};
