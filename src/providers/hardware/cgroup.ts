import { dirname, join } from 'node:path';
import type { ReadText } from './texts.js';

/** The limits that the control groups of this process set. null: no limit, or none is told. */
export interface CgroupLimits {
  /** The version of the interface that was read; null where there is none. */
  version: 1 | 2 | null;
  memoryBytes: number | null;
  /** The part of the limit that is free, without the page cache, which gives way. */
  memoryFreeBytes: number | null;
  /** The processors that it may use at once, which need not be whole. */
  cores: number | null;
}

const ROOT = '/sys/fs/cgroup';
/** Version 1 writes its largest whole number of pages for "no limit". */
const NO_LIMIT = 2 ** 60;

/**
 * Reads the limits of the control groups, of both versions (Linux, Documentation/admin-guide/cgroup-v1
 * and cgroup-v2). A group is bound by all above it, so the narrowest counts. In a container the path
 * may be one of the host that is not mounted; then the root of the mount is the container's own group.
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
    ...narrowest(chainOf(join(ROOT, 'memory'), memory).map((folder) => memoryV1(read, folder))),
    cores: least(chainOf(join(ROOT, 'cpu'), cpu).map((folder) => coresV1(read, folder))),
  };
};

const NONE: CgroupLimits = {
  version: null,
  memoryBytes: null,
  memoryFreeBytes: null,
  cores: null,
};

const readUnified = (read: ReadText, path: string): CgroupLimits => {
  const folders = chainOf(ROOT, path);
  return {
    version: 2,
    ...narrowest(folders.map((folder) => memoryV2(read, folder))),
    cores: least(folders.map((folder) => coresV2(read, folder))),
  };
};

/** Returns the folders of a group and of those above it, up to the root of the mount. */
const chainOf = (root: string, path = '/'): string[] => {
  const folders = [root];
  for (let at = join(root, path); at.length > root.length; at = dirname(at)) folders.push(at);
  return folders;
};

type MemoryLimit = Pick<CgroupLimits, 'memoryBytes' | 'memoryFreeBytes'>;

const memoryV1 = (read: ReadText, folder: string): MemoryLimit => {
  const stat = read(join(folder, 'memory.stat'));
  return limitOf({
    limit: least([
      numberIn(read(join(folder, 'memory.limit_in_bytes'))),
      // Of the groups above too, which a container does not see.
      fieldOf(stat, 'hierarchical_memory_limit'),
    ]),
    used: numberIn(read(join(folder, 'memory.usage_in_bytes'))),
    cache: fieldOf(stat, 'total_inactive_file'),
  });
};

const memoryV2 = (read: ReadText, folder: string): MemoryLimit =>
  limitOf({
    limit: numberIn(read(join(folder, 'memory.max'))),
    used: numberIn(read(join(folder, 'memory.current'))),
    cache: fieldOf(read(join(folder, 'memory.stat')), 'inactive_file'),
  });

interface MemoryNumbers {
  limit: number | null;
  used: number | null;
  cache: number | null;
}

const limitOf = ({ limit, used, cache }: MemoryNumbers): MemoryLimit => {
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

const fieldOf = (text: string | null, name: string): number | null =>
  numberIn(new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '')?.[1] ?? null);
