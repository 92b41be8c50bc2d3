import { readdir, readFile } from 'node:fs/promises';

/**
 * Processor time that each thread of a process has used, in microseconds; the first is the one that
 * runs the event loop. Zeros where there is no /proc.
 */
export const threadsOf = async (pid: number): Promise<Map<string, number>> => {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const others = threads.filter((id) => id !== `${pid}`);
  const used = [`${pid}`, ...others].map(async (id): Promise<[string, number]> => {
    const stat = await readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8').catch(() => '');
    return [id, Number(stat.split(' ')[0]) / 1000];
  });
  return new Map(await Promise.all(used));
};

/** Of each thread between two looks: the event loop's, then the others', those that used most first. */
export const usedSince = (before: Map<string, number>, after: Map<string, number>): number[] => {
  const [loop = 0, ...others] = [...after].map(([id, us]) => us - (before.get(id) ?? 0));
  return [loop, ...others.sort((a, b) => b - a)];
};

/** Returns the time of a piece of work, and the processor time of the daemon meanwhile, in ms. */
export const timed = async ({ pid }: { pid: number }, work: () => Promise<unknown>) => {
  const before = await threadsOf(pid);
  const since = performance.now();
  await work();
  const ms = performance.now() - since;
  const used = usedSince(before, await threadsOf(pid));
  return { ms, cpuMs: used.reduce((all, us) => all + us, 0) / 1000 };
};
