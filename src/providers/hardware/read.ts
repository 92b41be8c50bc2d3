import { statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Systeminformation } from 'systeminformation';
import { systemClock } from '../../kernel/clock.js';
import type { CgroupLimits } from './cgroup.js';
import { type CoreSources, computeUsableCores, readSystemCgroup } from './cores.js';
import { toGpus } from './gpu.js';
import type { HardwareSource, Machine } from './machine.js';
import { readSystemText } from './texts.js';

/** Replaced in tests. */
export interface HardwareSources extends CoreSources {
  arch: string;
  cpu(): Promise<Pick<Systeminformation.CpuData, 'manufacturer' | 'brand' | 'cores'>>;
  cpuFlags(): Promise<string>;
  mem(): Promise<Pick<Systeminformation.MemData, 'total' | 'available'>>;
  graphics(): Promise<Pick<Systeminformation.GraphicsData, 'controllers'>>;
  /** Bytes that can be written into the folder. */
  freeBytes(folder: string): Promise<number>;
}

/** systeminformation is loaded on first use. */
const systemSources = async (): Promise<HardwareSources> => {
  const { default: system } = await import('systeminformation');
  const { cpu, cpuFlags, mem, graphics } = system;
  return {
    platform: process.platform,
    arch: process.arch,
    readText: readSystemText,
    parallelism: availableParallelism,
    cpu: () => cpu(),
    cpuFlags: () => cpuFlags(),
    mem: () => mem(),
    graphics: () => graphics(),
    freeBytes: async (folder) => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
  };
};

/** The timeout of one source in milliseconds; GPU drivers can hang. */
const MAX_MS = 10_000;

/** A source that fails or hangs leaves its part unknown, with a note. */
export const readMachine = async (
  folder: string,
  testSources?: HardwareSources,
): Promise<Machine> => {
  const from = testSources ?? (await systemSources());
  const { cpu, flags, memory, graphics, free } = await readAllParts(from, folder);
  const cgroup = readSystemCgroup(from);
  const isApple = from.platform === 'darwin' && from.arch === 'arm64';
  const total = memory.value?.total || null;
  return {
    platform: detectPlatform(from),
    cpu: {
      model: formatCpuName(cpu.value),
      cores: computeUsableCores(from.parallelism(), cgroup),
      arch: from.arch,
      flags: (flags.value ?? '').split(/\s+/).filter((flag) => flag !== ''),
    },
    memory: {
      totalBytes: least(total, cgroup?.memoryBytes),
      availableBytes: least(memory.value?.available || null, cgroup?.memoryFreeBytes),
    },
    gpus: (graphics.value?.controllers ?? []).flatMap((each) => toGpus(each, isApple)),
    disk: { freeBytes: free.value },
    sources: [
      source('cpu', cpu, 'systeminformation', noteOfFlags(flags), noteOfCores(cgroup)),
      source('memory', memory, 'systeminformation', noteOfMemory(cgroup, total)),
      source('gpus', graphics, 'systeminformation', isApple ? UNIFIED : null),
      source('disk', free, 'statfs of the data folder'),
    ],
  };
};

/** Reads all sources at once. Each starts in its own turn, since starting a program blocks the event loop. */
const readAllParts = async (from: HardwareSources, folder: string) => {
  const cpu = withTimeout(from.cpu());
  await nextTurn();
  const flags = withTimeout(from.cpuFlags());
  await nextTurn();
  const memory = withTimeout(from.mem());
  await nextTurn();
  const graphics = withTimeout(from.graphics());
  const free = withTimeout(from.freeBytes(folder));
  return {
    cpu: await cpu,
    flags: await flags,
    memory: await memory,
    graphics: await graphics,
    free: await free,
  };
};

const UNIFIED = 'the GPU shares the memory of the processor';

interface Reading<T> {
  value: T | null;
  /** Reason why there is no value. */
  fault: string | null;
}

const withTimeout = async <T>(reading: Promise<T>): Promise<Reading<T>> => {
  let cancel = (): void => {};
  const late = new Promise<Reading<T>>((resolve) => {
    const fault = `no reply within ${MAX_MS / 1000} s`;
    cancel = systemClock.after(MAX_MS, () => resolve({ value: null, fault }));
  });
  const result = reading.then(
    (value) => ({ value, fault: null }),
    (error: unknown) => ({ value: null, fault: error instanceof Error ? error.message : 'failed' }),
  );
  return Promise.race([result, late]).finally(cancel);
};

const source = (
  part: HardwareSource['part'],
  { fault }: Reading<unknown>,
  name: string,
  ...notes: (string | null)[]
): HardwareSource => {
  const all = [fault === null ? null : `unknown: ${fault}`, ...notes];
  const note = all.filter((each) => each !== null).join('; ');
  return { part, source: name, note: note === '' ? null : note };
};

const noteOfFlags = ({ fault }: Reading<string>): string | null =>
  fault === null ? null : `flags unknown: ${fault}`;

/** WSL is Linux whose kernel version names Microsoft. */
const detectPlatform = ({ platform, readText }: HardwareSources): string =>
  platform === 'linux' && /microsoft/i.test(readText('/proc/version') ?? '') ? 'wsl' : platform;

const formatCpuName = (
  cpu: Pick<Systeminformation.CpuData, 'manufacturer' | 'brand'> | null,
): string | null =>
  cpu === null ? null : `${cpu.manufacturer} ${cpu.brand}`.trim().slice(0, 200) || null;

const least = (own: number | null, limit: number | null | undefined): number | null =>
  own === null ? (limit ?? null) : Math.min(own, limit ?? own);

const noteOfCores = (cgroup: CgroupLimits | null): string | null =>
  cgroup && cgroup.cores !== null
    ? `the control group (v${cgroup.version}) allows ${Math.round(cgroup.cores * 100) / 100} processors`
    : null;

const noteOfMemory = (cgroup: CgroupLimits | null, total: number | null): string | null =>
  cgroup && cgroup.memoryBytes !== null && cgroup.memoryBytes < (total ?? Number.POSITIVE_INFINITY)
    ? `the control group (v${cgroup.version}) allows ${Math.round(cgroup.memoryBytes / 2 ** 20)} MiB`
    : null;
