import { type ModelFiles, NotLoaded } from './files.js';

/** Ours: how often a file may end the engine while it is loaded. */
const MAX_CRASHES = 3;

/**
 * Creates the record of the files that ended the engine, or held it up, while they were loaded. It is
 * in memory only, so that a restart tries them again.
 */
export const createCrashRecord = () => {
  const crashes = new Map<string, { fingerprint: string; times: number; how: string }>();
  const of = ({ path, fingerprint }: ModelFiles) => {
    const record = crashes.get(path);
    return record?.fingerprint === fingerprint ? record : null;
  };
  return {
    add: (files: ModelFiles, how: string): void => {
      const times = (of(files)?.times ?? 0) + 1;
      crashes.set(files.path, { fingerprint: files.fingerprint, times, how });
    },
    /** Forgets a file that was loaded after all. */
    forget: ({ path }: ModelFiles): void => void crashes.delete(path),
    /** Throws NotLoaded for a file that has done so too often and has not changed since. */
    refuse: (files: ModelFiles): void => {
      const record = of(files);
      if (!record || record.times < MAX_CRASHES) return;
      const why = `its file failed ${record.times} times (${record.how})`;
      throw new NotLoaded('refused_connection', `was not loaded: ${why}. Install it again.`);
    },
  };
};
