import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { type CodeCache, readCompiled, trustCompiled, writeCompiled } from './kernel/codecache.js';

type BundledDaemon = typeof import('./main.js');

/** The bundle of `main.ts` and its imports, written by `scripts/bundle.js`. */
const BUNDLE = fileURLToPath(new URL('../daemon/main.cjs', import.meta.url));

/**
 * The bundle loads in half the time of a thousand modules. Source maps work only for modules in V8, so
 * with source maps the modules are loaded.
 */
export const loadDaemon = async (): Promise<BundledDaemon> => {
  if (process.sourceMapsEnabled) return import('./main.js');
  const scripts = createScripts(dirname(BUNDLE));
  const daemon = scripts.load('main.cjs');
  if (!isDaemon(daemon)) throw new TypeError(`Not a daemon bundle: ${BUNDLE}`);
  return { ...daemon, runDaemon: (flags, say) => daemon.runDaemon(flags, say, scripts) };
};

const isDaemon = (exports: unknown): exports is BundledDaemon =>
  typeof exports === 'object' && exports !== null && 'runDaemon' in exports;

/** In characters. Shorter scripts compile faster than their cached code is read. */
const MIN_KEPT = 500_000;

interface LoadedScript {
  name: string;
  script: Script;
  /** True if the cached code is used. */
  isKept: boolean;
}

/** Each script is loaded once. */
const createScripts = (scriptFolder: string): CodeCache & { load(name: string): unknown } => {
  const modules = new Map<string, { exports: unknown }>();
  const long: LoadedScript[] = [];
  let cache: string | null = null;
  const compiled = (name: string): Script => {
    const source = readFileSync(join(scriptFolder, name), 'utf8');
    const kept = cache === null || source.length < MIN_KEPT ? undefined : readCompiled(cache, name);
    const script = new Script(wrapped(source), {
      filename: join(scriptFolder, name),
      ...(kept && { cachedData: kept }),
    });
    const isKept = script.cachedDataRejected === false;
    if (cache !== null && isKept) trustCompiled(cache, name);
    if (source.length >= MIN_KEPT) long.push({ name, script, isKept });
    return script;
  };
  const load = (name: string): unknown => {
    const before = modules.get(name);
    if (before) return before.exports;
    const module = { exports: {} };
    modules.set(name, module);
    const file = join(scriptFolder, name);
    const others = createRequire(file);
    const required = (id: string): unknown =>
      id.startsWith('./') ? load(id.slice(2)) : others(id);
    const run: unknown = compiled(name).runInThisContext();
    if (typeof run !== 'function') throw new TypeError(`Not a script: ${file}`);
    run(module, module.exports, required, importModule, resolveModule, file);
    return module.exports;
  };
  return {
    load,
    keepIn: (folder) => {
      cache = folder;
    },
    keep: () => {
      for (const { name, script, isKept } of long) {
        if (cache !== null && !isKept) writeCompiled(cache, name, script.createCachedData());
      }
    },
  };
};

/** For `import` and `import.meta` in the bundle, which are not available in a script. */
const resolveModule = (name: string): string => import.meta.resolve(name);
const importModule = (name: string): Promise<unknown> => import(name);

/** The sources are ES modules, which are strict. */
const wrapped = (source: string): string =>
  `(function (module, exports, require, importModule, resolveModule, __filename) {'use strict';${source}\n})`;
