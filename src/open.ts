import { migrations } from '../migrations/all.js';
import { type Config, variableOf } from './config.js';
import { diskFullSentence, isDiskFull } from './kernel/failure.js';
import type { Log } from './kernel/log.js';
import { makePrivateFolder } from './kernel/private.js';
import { auditKeysOf } from './secrets/auditmac.js';
import { loadMasterKey, type MasterKey } from './secrets/master.js';
import { OpenRefused } from './store/engine/protocol.js';
import { type OutsideHeads, openOutside } from './store/externalheads.js';
import { closeThreads, type Engines, openThreads } from './store/threads.js';

/** The first steps of a start, which need little code: the master key and the database thread. */
export interface OpenedHome {
  /** On the scale of performance.now(). */
  since: number;
  master: MasterKey;
  engines: Promise<Engines>;
  /** The files outside the home that also receive the heads of the audit log. */
  heads: OutsideHeads;
  /** Ends the threads of a start that failed: a thread that is left would keep the process alive. */
  end(): Promise<void>;
}

export interface BeginOptions {
  config: Config;
  log: Log;
  /** The database thread ended by itself: nothing can go on. */
  onLost(error: Error): void;
}

/**
 * The home, the master key, and the database, which opens in its thread while the event loop loads
 * the rest. OpenRefused says why not, now or when the engines are asked for.
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
      ...auditKeysOf(master.keyring),
      ...(heads.file !== null && { auditHeads: heads.file }),
    },
    { lost: onLost, audited: heads.audited },
    () => auditKeysOf(master.keyring),
  );
  const ended = (): void => undefined;
  // Whoever asks for them hears of it; until then nobody may be there.
  engines.catch(ended);
  return { since, master, engines, heads, end: () => engines.then(closeThreads, ended) };
};

const openHeads = ({ home, auditHeads }: Config, log: Log): OutsideHeads =>
  openOutside({ name: variableOf('auditHeads'), value: auditHeads, home }, log);

const makeHome = (home: string): void => {
  try {
    makePrivateFolder(home);
  } catch (error) {
    if (isDiskFull(error)) throw new OpenRefused(diskFullSentence(home));
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenRefused(`The home ${home} cannot be made: ${why}`);
  }
};
