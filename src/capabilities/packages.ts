import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Gpu } from '../providers/hardware/machine.js';

/** Exact versions with checksums. */
export interface PackageSet {
  dependencies: Record<string, string>;
  /** `packages` of a package-lock.json, without the root. */
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
  /** Packages with the binary, by platform: `linux-x64`. */
  platforms: Record<string, LockedPackage>;
}

interface LanguagePackages {
  version: string;
  /** Checksums by Tesseract language code. */
  languages: Record<string, string>;
}

const readShipped = <T>(url: URL): T => JSON.parse(readFileSync(fileURLToPath(url), 'utf8'));

/** Slug of the engine for GGUF files. */
export const LLAMA = 'llama';
/** Slug of the speech engine. */
export const WHISPER = 'whisper';

interface NpmEngine {
  slug: string;
  name: string;
  main: string;
  /** Name prefix of the packages with binaries. */
  programs: string;
  /** Measured disk usage without GPU packages. */
  bytes: number;
}

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

export const findNpmEngine = (slug: string): NpmEngine | undefined =>
  ENGINES.find((each) => each.slug === slug);

export interface UnsupportedHere {
  unsupported: string;
}

export interface EngineHost {
  platform: NodeJS.Platform;
  arch: string;
  /** The binaries are built against glibc. */
  isGlibc: boolean;
  gpus: readonly Gpu[];
}

export const enginePackages = (
  { slug, main, programs }: NpmEngine,
  host: EngineHost,
): PackageSet | UnsupportedHere => {
  const { version, packages, platforms } = shippedEngine(slug);
  const base = `${host.platform}-${host.arch}`;
  if (host.platform === 'linux' && !host.isGlibc) {
    return { unsupported: 'the capability requires glibc, which this system does not have' };
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

/** Binaries for the GPUs of this machine. */
const accelerated = ({ platform, arch, gpus }: EngineHost): string[] => [
  ...new Set(
    gpus.flatMap(({ vendor }) => ACCELERATORS[vendor].map((way) => `${platform}-${arch}-${way}`)),
  ),
];

/** Compute backends per GPU vendor. */
const ACCELERATORS: Record<Gpu['vendor'], string[]> = {
  nvidia: ['cuda', 'vulkan'],
  amd: ['vulkan'],
  apple: [],
  intel: [],
  unknown: [],
};

export const engineGpus = (host: EngineHost): Gpu[] => {
  const { platforms } = shippedEngine(LLAMA);
  return host.gpus.filter((gpu) =>
    accelerated({ ...host, gpus: [gpu] }).some((name) => platforms[name] !== undefined),
  );
};

export const tesseractLanguages = (): string[] => Object.keys(shippedLanguages().languages);

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
