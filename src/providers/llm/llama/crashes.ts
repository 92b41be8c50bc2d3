import { damagedFileAdvice, type ModelFiles, NotLoaded } from './files.js';

/** Crashes of the engine after which a file is rejected. */
const MAX_CRASHES = 3;

/** In memory only, so that a restart tries the files again. */
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
    forget: ({ path }: ModelFiles): void => void crashes.delete(path),
    /** Throws NotLoaded. */
    refuse: (files: ModelFiles): void => {
      const record = of(files);
      if (!record || record.times < MAX_CRASHES) return;
      const why = `its file failed ${record.times} times (${record.how})`;
      throw new NotLoaded(
        'refused_connection',
        `was not loaded: ${why}. ${damagedFileAdvice(files.path)}. To try again, restart the daemon`,
      );
    },
  };
};
