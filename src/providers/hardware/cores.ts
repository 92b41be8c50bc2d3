import { availableParallelism } from 'node:os';
import { type CgroupLimits, readCgroup } from './cgroup.js';
import { type ReadText, readSystemText } from './texts.js';

/** The sources of what is known of the processors. Tests give their own. */
export interface CoreSources {
  platform: NodeJS.Platform;
  readText: ReadText;
  /** The processors that the system gives this process. */
  parallelism(): number;
}

/** Returns the limits of the control groups; null where the system has none. */
export const cgroupOf = ({ platform, readText }: CoreSources): CgroupLimits | null =>
  platform === 'linux' ? readCgroup(readText) : null;

/** Returns the whole processors that may be used at once; a quota runs one at least. */
export const coresOf = (parallelism: number, cgroup: CgroupLimits | null): number =>
  Math.max(1, Math.floor(Math.min(parallelism, cgroup?.cores ?? parallelism)));

const SYSTEM: CoreSources = {
  platform: process.platform,
  readText: readSystemText,
  parallelism: availableParallelism,
};

/** Returns how many threads run at full speed now. The quota of a control group may change. */
export const usableCores = (from: CoreSources = SYSTEM): number =>
  coresOf(from.parallelism(), cgroupOf(from));
