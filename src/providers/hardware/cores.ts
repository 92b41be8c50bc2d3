import { availableParallelism } from 'node:os';
import { type CgroupLimits, readCgroup } from './cgroup.js';
import { type ReadText, readSystemText } from './texts.js';

/** Replaced in tests. */
export interface CoreSources {
  platform: NodeJS.Platform;
  readText: ReadText;
  /** Processors that the system gives to this process. */
  parallelism(): number;
}

/** Null if the system has no control groups. */
export const readSystemCgroup = ({ platform, readText }: CoreSources): CgroupLimits | null =>
  platform === 'linux' ? readCgroup(readText) : null;

/** At least 1, since a smaller quota still runs one thread. */
export const computeUsableCores = (parallelism: number, cgroup: CgroupLimits | null): number =>
  Math.max(1, Math.floor(Math.min(parallelism, cgroup?.cores ?? parallelism)));

const SYSTEM: CoreSources = {
  platform: process.platform,
  readText: readSystemText,
  parallelism: availableParallelism,
};

/** The number of threads that can run at full speed. The quota of a control group may change. */
export const usableCores = (from: CoreSources = SYSTEM): number =>
  computeUsableCores(from.parallelism(), readSystemCgroup(from));
