import { migrations } from '../migrations/all.js';
import { type Config, toVariableName } from './config.js';
import { diskFullSentence, isDiskFull } from './kernel/failure.js';
import type { Log } from './kernel/log.js';
import { makePrivateFolder } from './kernel/private.js';
import { deriveAuditKeys } from './secrets/auditmac.js';
import { loadMasterKey, type MasterKey } from './secrets/master.js';
import { OpenRefused } from './store/engine/protocol.js';
import { type ExternalHeads, openExternalHeads } from './store/externalheads.js';
import { closeThreads, type Engines, openThreads } from './store/threads.js';

/** The first steps of a start, which need little code. */
export interface OpenedHome {
  /** On the scale of performance.now(). */
  since: number;
  master: MasterKey;
  engines: Promise<Engines>;
  /** Files outside the home that also receive the heads of the audit log. */
  heads: ExternalHeads;
  /** Ends the threads of a failed start, which would keep the process alive. */
  end(): Promise<void>;
}

export interface BeginOptions {
  config: Config;
  log: Log;
  /** Called if the database thread ends unexpectedly. */
  onLost(error: Error): void;
}

/**
 * The database opens in its thread while the event loop loads the rest. Throws OpenRefused, now or when
 * `engines` is awaited.
 */
export const beginOpening = ({ config, log, onLost }: BeginOptions): OpenedHome => {
  const since = performance.now();
  makeHome(config.home);
  const heads = openHeads(config, log);
  const master = loadMasterKey(config.home, config.masterKey);
  const engines = openThreads(
    {
      home: config.home,
      migrations,
      ...deriveAuditKeys(master.keyring),
      ...(heads.file !== null && { auditHeads: heads.file }),
    },
    { lost: onLost, audited: heads.audited },
    () => deriveAuditKeys(master.keyring),
  );
  const ended = (): void => undefined;
  // The error is reported to whoever awaits `engines`; nobody may do so yet.
  engines.catch(ended);
  return { since, master, engines, heads, end: () => engines.then(closeThreads, ended) };
};

const openHeads = ({ home, auditHeads }: Config, log: Log): ExternalHeads =>
  openExternalHeads({ name: toVariableName('auditHeads'), value: auditHeads, home }, log);

const makeHome = (home: string): void => {
  try {
    makePrivateFolder(home);
  } catch (error) {
    if (isDiskFull(error)) throw new OpenRefused(diskFullSentence(home));
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenRefused(`Cannot create the home ${home}: ${why}`);
  }
};
