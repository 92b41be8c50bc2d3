import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { measureBandwidth } from '../../../src/providers/hardware/bandwidth.js';
import { readCgroup } from '../../../src/providers/hardware/cgroup.js';
import { usableCores } from '../../../src/providers/hardware/cores.js';
import { bandwidthOfGpu } from '../../../src/providers/hardware/gpubandwidth.js';
import { type HardwareSources, readMachine } from '../../../src/providers/hardware/read.js';

export const lab = Lab.script();
const { describe, it } = lab;

const GIB = 2 ** 30;

/** Files of a system, by their paths. */
const system = (files: Record<string, string>) => (path: string) => files[path] ?? null;

const V2_ROOT = { '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory' };

describe('what control groups allow', () => {
  it('is read by version 2, the narrowest of a group and those above it', () => {
    const read = system({
      ...V2_ROOT,
      '/proc/self/cgroup': '0::/machine/app\n',
      '/sys/fs/cgroup/machine/app/memory.max': 'max\n',
      '/sys/fs/cgroup/machine/memory.max': `${4 * GIB}\n`,
      '/sys/fs/cgroup/machine/memory.current': `${3 * GIB}\n`,
      '/sys/fs/cgroup/machine/memory.stat': `anon 5\ninactive_file ${GIB}\n`,
      '/sys/fs/cgroup/machine/app/cpu.max': '150000 100000\n',
      '/sys/fs/cgroup/machine/cpu.max': 'max 100000\n',
    });
    expect(readCgroup(read)).to.equal({
      version: 2,
      memoryBytes: 4 * GIB,
      // Used are 3 GiB, of which 1 GiB of page cache gives way.
      memoryFreeBytes: 2 * GIB,
      cores: 1.5,
    });
  });

  it('is read by version 1, from the root of the mount where the own path is not mounted', () => {
    const read = system({
      '/proc/self/cgroup': '9:name=systemd:/\n4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${2 * GIB}\n`,
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${GIB}\n`,
      '/sys/fs/cgroup/memory/memory.stat': 'total_inactive_file 0\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    });
    expect(readCgroup(read)).to.equal({
      version: 1,
      memoryBytes: 2 * GIB,
      memoryFreeBytes: GIB,
      cores: 2,
    });
  });

  it('is nothing where no limit is set, in both versions', () => {
    const one = system({
      '/proc/self/cgroup': '4:memory:/\n1:cpu:/\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${GIB}\n`,
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    });
    const two = system({ ...V2_ROOT, '/proc/self/cgroup': '0::/\n' });
    for (const [read, version] of [
      [one, 1],
      [two, 2],
    ] as const) {
      expect(readCgroup(read)).to.equal({
        version,
        memoryBytes: null,
        memoryFreeBytes: null,
        cores: null,
      });
    }
    expect(readCgroup(system({})).version).to.be.null();
  });
});

/** A machine of 8 processors and 32 GiB, whose files are given. */
const sources = (over: Partial<HardwareSources> = {}): HardwareSources => ({
  platform: 'linux',
  arch: 'x64',
  readText: system({}),
  parallelism: () => 8,
  cpu: async () => ({ manufacturer: 'Intel', brand: 'Core i7-9700', cores: 8 }),
  cpuFlags: async () => 'fpu sse4_2 avx2',
  mem: async () => ({ total: 32 * GIB, available: 20 * GIB }),
  graphics: async () => ({ controllers: [] }),
  freeBytes: async () => 100 * GIB,
  ...over,
});

const controller = (of: object) => ({
  vendor: '',
  model: '',
  bus: '',
  vram: null,
  vramDynamic: false,
  ...of,
});

describe('the machine', () => {
  it('is told as its sources say', async () => {
    const { sources: said, ...machine } = await readMachine('/home', sources());
    expect(machine).to.equal({
      platform: 'linux',
      cpu: { model: 'Intel Core i7-9700', cores: 8, arch: 'x64', flags: ['fpu', 'sse4_2', 'avx2'] },
      memory: { totalBytes: 32 * GIB, availableBytes: 20 * GIB },
      gpus: [],
      disk: { freeBytes: 100 * GIB },
    });
    expect(said.map(({ part, source, note }) => [part, source, note])).to.equal([
      ['cpu', 'systeminformation', null],
      ['memory', 'systeminformation', null],
      ['gpus', 'systeminformation', null],
      ['disk', 'statfs of the data folder', null],
    ]);
  });

  it('is no larger than what its control group allows, and says so', async () => {
    const readText = system({
      ...V2_ROOT,
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/memory.max': String(2 * GIB),
      '/sys/fs/cgroup/memory.current': String(GIB),
      '/sys/fs/cgroup/cpu.max': '250000 100000',
    });
    const machine = await readMachine('/home', sources({ readText }));
    expect(machine.memory).to.equal({ totalBytes: 2 * GIB, availableBytes: GIB });
    // Two and a half processors run two threads at full speed.
    expect(machine.cpu.cores).to.equal(2);
    expect(machine.sources.map(({ note }) => note)).to.equal([
      'the control group (v2) allows 2.5 processors',
      'the control group (v2) allows 2048 MiB',
      null,
      null,
    ]);
  });

  it('runs as many threads at full speed as its quota has whole processors', () => {
    const threads = (quota: string) =>
      usableCores({
        ...{ platform: 'linux', parallelism: () => 8 },
        readText: system({
          ...V2_ROOT,
          '/proc/self/cgroup': '0::/\n',
          '/sys/fs/cgroup/cpu.max': `${quota} 100000`,
        }),
      });
    expect(['250000', '50000', '1600000', 'max'].map(threads)).to.equal([2, 1, 8, 8]);
  });

  it('has the GPUs that can compute, with the memory that their drivers tell', async () => {
    const controllers = [
      controller({ vendor: 'NVIDIA', model: 'GA102', name: 'RTX 3090', vram: 256 }),
      controller({ vendor: 'VMware', model: 'SVGA II Adapter', vram: 128 }),
      controller({ vendor: 'Intel Corporation', model: 'UHD Graphics 630', vramDynamic: true }),
      controller({ vendor: 'Advanced Micro Devices', model: 'Navi 31', vram: 24_560 }),
    ];
    Object.assign(controllers[0] ?? {}, { memoryTotal: 24_576, driverVersion: '550.54' });
    const { gpus } = await readMachine('/', sources({ graphics: async () => ({ controllers }) }));
    expect(gpus).to.equal([
      {
        vendor: 'nvidia',
        name: 'RTX 3090',
        vramBytes: 24_576 * 2 ** 20,
        driver: '550.54',
        isUnified: false,
      },
      {
        vendor: 'intel',
        name: 'UHD Graphics 630',
        vramBytes: null,
        driver: null,
        isUnified: true,
      },
      {
        vendor: 'amd',
        name: 'Navi 31',
        vramBytes: 24_560 * 2 ** 20,
        driver: null,
        isUnified: false,
      },
    ]);
  });

  it('shares its memory with the GPU on Apple’s processors', async () => {
    const controllers = [controller({ vendor: 'Apple', model: 'Apple M2 Pro', vram: 1 })];
    const apple = sources({
      platform: 'darwin',
      arch: 'arm64',
      graphics: async () => ({ controllers }),
    });
    const { gpus, platform, sources: said } = await readMachine('/', apple);
    expect([platform, gpus.map(({ vramBytes, isUnified }) => [vramBytes, isUnified])]).to.equal([
      'darwin',
      [[null, true]],
    ]);
    expect(said.find(({ part }) => part === 'gpus')?.note).to.contain('shares the memory');
  });

  it('is WSL where the kernel says so', async () => {
    const readText = system({ '/proc/version': 'Linux version 6.6-microsoft-standard-WSL2' });
    expect((await readMachine('/', sources({ readText }))).platform).to.equal('wsl');
  });

  it('leaves unknown what a source does not say', async () => {
    const broken = async () => {
      throw new Error('lspci is missing');
    };
    const machine = await readMachine('/', sources({ graphics: broken, mem: broken, cpu: broken }));
    expect([machine.gpus, machine.memory, machine.cpu.model]).to.equal([
      [],
      { totalBytes: null, availableBytes: null },
      null,
    ]);
    expect(machine.sources.find(({ part }) => part === 'gpus')?.note).to.equal(
      'unknown: lspci is missing',
    );
  });

  it('says what a source did not tell beside what another one allows', async () => {
    const broken = async () => {
      throw new Error('/proc is not mounted');
    };
    const readText = system({
      ...V2_ROOT,
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/memory.max': String(2 * GIB),
      '/sys/fs/cgroup/memory.current': String(GIB),
    });
    const {
      cpu,
      memory,
      sources: found,
    } = await readMachine('/', sources({ cpuFlags: broken, mem: broken, readText }));
    expect([cpu.model, cpu.flags]).to.equal(['Intel Core i7-9700', []]);
    expect(memory).to.equal({ totalBytes: 2 * GIB, availableBytes: GIB });
    expect(found.map(({ note }) => note)).to.equal([
      'flags unknown: /proc is not mounted',
      'unknown: /proc is not mounted; the control group (v2) allows 2048 MiB',
      null,
      null,
    ]);
  });

  it('is this one, without sources of a test', async () => {
    const { cpu, memory, disk } = await readMachine('/');
    expect(cpu.arch).to.equal(process.arch);
    expect(memory.totalBytes ?? 0).to.be.at.least(256 * 2 ** 20);
    expect(memory.availableBytes ?? 0).to.be.between(1, memory.totalBytes ?? 0);
    expect(disk.freeBytes ?? 0).to.be.at.least(1);
  });
});

describe('the bandwidth of memory', () => {
  it('is that of memory, not of a disk or a cache', async () => {
    const bandwidth = await measureBandwidth(2);
    // One channel of the slowest memory in use reads 5 GB in a second, the fastest server 1 TB.
    expect(bandwidth ?? 0).to.be.between(1e9, 2e12);
  });
});

describe('the memory bandwidth of a GPU', () => {
  it('is known by its name, however the system writes it', () => {
    const names = [
      ...['NVIDIA GeForce RTX 4090', 'GeForce RTX 4070 Ti SUPER', 'AD102 [GeForce RTX 4090]'],
      ...['AMD Radeon RX 7900 XTX', 'Intel(R) Arc(TM) A770 Graphics', 'Apple M3 Pro'],
      ...['Tesla T4', 'NVIDIA A100-SXM4-80GB'],
      // Two variants: GDDR6X at 21 and GDDR6 at 20 Gbit/s, on 192 bits.
      'GeForce RTX 4070',
    ];
    expect(names.map((name) => (bandwidthOfGpu(name) ?? 0) / 1e9)).to.equal([
      ...[1008, 672, 1008, 960, 512, 150, 320, 2039, 480],
    ]);
  });

  it('is not guessed from a name that is like another', () => {
    for (const name of [
      ...['NVIDIA GeForce RTX 4090 Laptop GPU', 'NVIDIA GeForce RTX 4090 D', 'RTX', ''],
      ...['Navi 31 [Radeon RX 7900 XT/7900 XTX]', 'constructor', 'Intel UHD Graphics 770'],
    ]) {
      expect([name, bandwidthOfGpu(name)]).to.equal([name, null]);
    }
  });
});
