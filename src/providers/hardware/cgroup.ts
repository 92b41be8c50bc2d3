import { dirname, join } from 'node:path';
import type { ReadText } from './texts.js';

/** Limits of the control groups of this process. Null if there is no limit, or it is unknown. */
export interface CgroupLimits {
  /** Version of the interface; null if there are no control groups. */
  version: 1 | 2 | null;
  memoryBytes: number | null;
  /** Free part of the limit, including the page cache, which can be reclaimed. */
  memoryFreeBytes: number | null;
  /** Maximum number of processors, which may be fractional. */
  cores: number | null;
}

const ROOT = '/sys/fs/cgroup';
/** Version 1 reports about 2^63 for "no limit". */
const NO_LIMIT = 2 ** 60;

/**
 * Reads both versions (Linux, Documentation/admin-guide/cgroup-v1 and cgroup-v2). A group is bound by
 * all groups above it, so the narrowest limit counts. In a container the path may be one of the host
 * that is not mounted; the root of the mount is the container's own group then.
 */
export const readCgroup = (read: ReadText): CgroupLimits => {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'));
  const pathOf = (controller: string): string | undefined =>
    groups.find(([, names = '']) => names.split(',').includes(controller))?.[2];
  if (read(join(ROOT, 'cgroup.controllers')) !== null) return readUnified(read, pathOf('') ?? '/');
  const memory = pathOf('memory');
  const cpu = pathOf('cpu');
  if (memory === undefined && cpu === undefined) return NONE;
  return {
    version: 1,
    ...narrowest(
      listGroupFolders(join(ROOT, 'memory'), memory).map((folder) => memoryV1(read, folder)),
    ),
    cores: least(listGroupFolders(join(ROOT, 'cpu'), cpu).map((folder) => coresV1(read, folder))),
  };
};

const NONE: CgroupLimits = {
  version: null,
  memoryBytes: null,
  memoryFreeBytes: null,
  cores: null,
};

const readUnified = (read: ReadText, path: string): CgroupLimits => {
  const folders = listGroupFolders(ROOT, path);
  return {
    version: 2,
    ...narrowest(folders.map((folder) => memoryV2(read, folder))),
    cores: least(folders.map((folder) => coresV2(read, folder))),
  };
};

/** The folder of a group and those of the groups above it, up to the root of the mount. */
const listGroupFolders = (root: string, path = '/'): string[] => {
  const folders = [root];
  for (let at = join(root, path); at.length > root.length; at = dirname(at)) folders.push(at);
  return folders;
};

type MemoryLimit = Pick<CgroupLimits, 'memoryBytes' | 'memoryFreeBytes'>;

const memoryV1 = (read: ReadText, folder: string): MemoryLimit => {
  const stat = read(join(folder, 'memory.stat'));
  return computeMemoryLimit({
    limit: least([
      numberIn(read(join(folder, 'memory.limit_in_bytes'))),
      // Includes the groups above, which a container does not see.
      parseField(stat, 'hierarchical_memory_limit'),
    ]),
    used: numberIn(read(join(folder, 'memory.usage_in_bytes'))),
    cache: parseField(stat, 'total_inactive_file'),
  });
};

const memoryV2 = (read: ReadText, folder: string): MemoryLimit =>
  computeMemoryLimit({
    limit: numberIn(read(join(folder, 'memory.max'))),
    used: numberIn(read(join(folder, 'memory.current'))),
    cache: parseField(read(join(folder, 'memory.stat')), 'inactive_file'),
  });

interface MemoryNumbers {
  limit: number | null;
  used: number | null;
  cache: number | null;
}

const computeMemoryLimit = ({ limit, used, cache }: MemoryNumbers): MemoryLimit => {
  if (limit === null || limit >= NO_LIMIT) return { memoryBytes: null, memoryFreeBytes: null };
  const held = used === null ? null : Math.max(0, used - (cache ?? 0));
  return { memoryBytes: limit, memoryFreeBytes: held === null ? null : Math.max(0, limit - held) };
};

const coresV1 = (read: ReadText, folder: string): number | null => {
  const quota = numberIn(read(join(folder, 'cpu.cfs_quota_us')));
  const period = numberIn(read(join(folder, 'cpu.cfs_period_us')));
  return quota === null || quota <= 0 || !period ? null : quota / period;
};

const coresV2 = (read: ReadText, folder: string): number | null => {
  const [quota = '', period = ''] = (read(join(folder, 'cpu.max')) ?? '').trim().split(' ');
  return /^\d+$/.test(quota) && Number(period) > 0 ? Number(quota) / Number(period) : null;
};

const narrowest = (limits: MemoryLimit[]): MemoryLimit => ({
  memoryBytes: least(limits.map(({ memoryBytes }) => memoryBytes)),
  memoryFreeBytes: least(limits.map(({ memoryFreeBytes }) => memoryFreeBytes)),
});

const least = (values: (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
};

const numberIn = (text: string | null): number | null =>
  text !== null && /^-?\d+$/.test(text.trim()) ? Number(text.trim()) : null;

const parseField = (text: string | null, name: string): number | null =>
  numberIn(new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '')?.[1] ?? null);
