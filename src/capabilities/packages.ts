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

interface LlamaPackages {
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

/** Returns the packages of the engine for this machine, or why there are none. */
export const llamaPackages = (host: EngineHost): PackageSet | UnsupportedHere => {
  const { version, packages, platforms } = readShipped<LlamaPackages>(
    new URL('./packages/llama.json', import.meta.url),
  );
  const base = `${host.platform}-${host.arch}`;
  if (host.platform === 'linux' && !host.isGlibc) {
    return { unsupported: 'its programs need glibc, which this system does not have' };
  }
  const names = [base, ...accelerated(host)].filter((name) => platforms[name] !== undefined);
  if (!names.includes(base)) {
    return { unsupported: `there is no program of it here for ${base}` };
  }
  const own = names.map((name): [string, LockedPackage | undefined] => [
    `@node-llama-cpp/${name}`,
    platforms[name],
  ]);
  const known = own.flatMap(([name, locked]) => (locked ? [{ name, locked }] : []));
  return {
    version,
    dependencies: {
      'node-llama-cpp': version,
      ...Object.fromEntries(known.map(({ name, locked }) => [name, locked.version])),
    },
    locked: {
      ...packages,
      ...Object.fromEntries(known.map(({ name, locked }) => [`node_modules/${name}`, locked])),
    },
  };
};

/** The programs beside the one for the processor that a GPU of this machine can use. */
const accelerated = ({ platform, arch, gpus }: EngineHost): string[] => {
  const base = `${platform}-${arch}`;
  const vendors = new Set(gpus.map(({ vendor }) => vendor));
  return [
    ...(vendors.has('nvidia') ? [`${base}-cuda`] : []),
    ...(vendors.has('nvidia') || vendors.has('amd') ? [`${base}-vulkan`] : []),
  ];
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

const shippedLanguages = (): LanguagePackages =>
  readShipped(new URL('./packages/tesseract.json', import.meta.url));
