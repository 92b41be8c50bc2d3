import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Gpu } from '../providers/hardware/machine.js';

/** The packages that npm installs for one capability: exact versions with their checksums, and nothing else. */
export interface PackageSet {
  dependencies: Record<string, string>;
  /** The `packages` of a package-lock.json, without the root. */
  locked: Record<string, LockedPackage>;
  version: string;
}

interface LockedPackage {
  version: string;
  integrity: string;
  dependencies?: Record<string, string>;
}

interface EnginePackages {
  version: string;
  packages: Record<string, LockedPackage>;
  /** The packages with the program itself, by their names: `linux-x64`. */
  platforms: Record<string, LockedPackage>;
}

interface LanguagePackages {
  version: string;
  /** Checksums by Tesseract's codes of languages. */
  languages: Record<string, string>;
}

const readShipped = <T>(url: URL): T => JSON.parse(readFileSync(fileURLToPath(url), 'utf8'));

/** The slug of the engine that runs GGUF files. */
export const LLAMA = 'llama';
/** The slug of the engine that turns speech into text. */
export const WHISPER = 'whisper';

/** An engine that npm installs: a package, and one with its program for each platform. */
interface NpmEngine {
  slug: string;
  name: string;
  main: string;
  /** The beginning of the names of the packages with its programs. */
  programs: string;
  /** Measured: what the packages take on the disk, without those for GPUs. */
  bytes: number;
}

/** The engines that can be installed. */
export const ENGINES: NpmEngine[] = [
  {
    slug: LLAMA,
    name: 'llama.cpp (node-llama-cpp)',
    main: 'node-llama-cpp',
    programs: '@node-llama-cpp/',
    bytes: 89_000_000,
  },
  {
    slug: WHISPER,
    name: 'whisper.cpp (@fugood/whisper.node)',
    main: '@fugood/whisper.node',
    programs: '@fugood/node-whisper-',
    bytes: 15_000_000,
  },
];

/** Finds an engine by its slug. */
export const engineOf = (slug: string): NpmEngine | undefined =>
  ENGINES.find((each) => each.slug === slug);

/** The reason why the engine does not run on this machine. */
export interface UnsupportedHere {
  unsupported: string;
}

/** The parts of the machine that decide which program runs on it. */
export interface EngineHost {
  platform: NodeJS.Platform;
  arch: string;
  /** True if the C library is glibc, which the programs are built against. */
  isGlibc: boolean;
  gpus: readonly Gpu[];
}

/** Returns the packages of an engine for this machine, or why there are none. */
export const enginePackages = (
  { slug, main, programs }: NpmEngine,
  host: EngineHost,
): PackageSet | UnsupportedHere => {
  const { version, packages, platforms } = shippedEngine(slug);
  const base = `${host.platform}-${host.arch}`;
  if (host.platform === 'linux' && !host.isGlibc) {
    return { unsupported: 'it requires glibc, which this system does not have' };
  }
  const names = [base, ...accelerated(host)].filter((name) => platforms[name] !== undefined);
  if (!names.includes(base)) {
    return { unsupported: `no build is available for ${base}` };
  }
  const own = names.map((name): [string, LockedPackage | undefined] => [
    `${programs}${name}`,
    platforms[name],
  ]);
  const known = own.flatMap(([name, locked]) => (locked ? [{ name, locked }] : []));
  return {
    version,
    dependencies: {
      [main]: version,
      ...Object.fromEntries(known.map(({ name, locked }) => [name, locked.version])),
    },
    locked: {
      ...packages,
      ...Object.fromEntries(known.map(({ name, locked }) => [`node_modules/${name}`, locked])),
    },
  };
};

/** The programs beside the one for the processor that a GPU of this machine can use. */
const accelerated = ({ platform, arch, gpus }: EngineHost): string[] => [
  ...new Set(
    gpus.flatMap(({ vendor }) => ACCELERATORS[vendor].map((way) => `${platform}-${arch}-${way}`)),
  ),
];

/** The ways in which the GPUs of a maker compute for the engine. */
const ACCELERATORS: Record<Gpu['vendor'], string[]> = {
  nvidia: ['cuda', 'vulkan'],
  amd: ['vulkan'],
  apple: [],
  intel: [],
  unknown: [],
};

/** Lists the GPUs of this machine for which there is a program of llama. */
export const engineGpus = (host: EngineHost): Gpu[] => {
  const { platforms } = shippedEngine(LLAMA);
  return host.gpus.filter((gpu) =>
    accelerated({ ...host, gpus: [gpu] }).some((name) => platforms[name] !== undefined),
  );
};

/** Returns the codes of the languages of Tesseract that can be installed. */
export const tesseractLanguages = (): string[] => Object.keys(shippedLanguages().languages);

/** Returns the packages of a language of Tesseract; null if there is no such language. */
export const tesseractPackages = (language: string): PackageSet | null => {
  const { version, languages } = shippedLanguages();
  const integrity = Object.hasOwn(languages, language) ? languages[language] : undefined;
  if (integrity === undefined) return null;
  const name = `@tesseract.js-data/${language}`;
  return {
    version,
    dependencies: { [name]: version },
    locked: { [`node_modules/${name}`]: { version, integrity } },
  };
};

const shippedEngine = (slug: string): EnginePackages =>
  readShipped(new URL(`./packages/${slug}.json`, import.meta.url));

const shippedLanguages = (): LanguagePackages =>
  readShipped(new URL('./packages/tesseract.json', import.meta.url));
