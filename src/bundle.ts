import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import {
  type CompiledCode,
  readCompiled,
  trustCompiled,
  writeCompiled,
} from './kernel/codecache.js';

type BundledDaemon = typeof import('./main.js');

/** The bundle of `main.ts` and all that it imports, which `scripts/bundle.js` writes. */
const BUNDLE = fileURLToPath(new URL('../daemon/main.cjs', import.meta.url));

/**
 * Loads the daemon from its bundle, in half the time that its thousand modules would take. With source
 * maps, which V8 applies to modules alone, the modules are loaded.
 */
export const loadDaemon = async (): Promise<BundledDaemon> => {
  if (process.sourceMapsEnabled) return import('./main.js');
  const scripts = createScripts(dirname(BUNDLE));
  const daemon = scripts.load('main.cjs');
  if (!isDaemon(daemon)) throw new TypeError(`No daemon: ${BUNDLE}`);
  return { ...daemon, runDaemon: (flags, say) => daemon.runDaemon(flags, say, scripts) };
};

const isDaemon = (exports: unknown): exports is BundledDaemon =>
  typeof exports === 'object' && exports !== null && 'runDaemon' in exports;

/** Ours: code of scripts that are shorter is compiled faster than it is read, in characters. */
const MIN_KEPT = 500_000;

interface LoadedScript {
  name: string;
  script: Script;
  /** True if what was kept of it is used. */
  isKept: boolean;
}

/** Creates what loads the scripts of a bundle, of which each is loaded once. */
const createScripts = (folder: string): CompiledCode & { load(name: string): unknown } => {
  const modules = new Map<string, { exports: unknown }>();
  const long: LoadedScript[] = [];
  let cache: string | null = null;
  const compiled = (name: string): Script => {
    const source = readFileSync(join(folder, name), 'utf8');
    const kept = cache === null || source.length < MIN_KEPT ? undefined : readCompiled(cache, name);
    const script = new Script(wrapped(source), {
      filename: join(folder, name),
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
    const file = join(folder, name);
    const others = createRequire(file);
    const required = (id: string): unknown =>
      id.startsWith('./') ? load(id.slice(2)) : others(id);
    const run: unknown = compiled(name).runInThisContext();
    if (typeof run !== 'function') throw new TypeError(`No script: ${file}`);
    run(module, module.exports, required, importModule, resolveModule, file);
    return module.exports;
  };
  return {
    load,
    keepIn: (given) => {
      cache = given;
    },
    keep: () => {
      for (const { name, script, isKept } of long) {
        if (cache !== null && !isKept) writeCompiled(cache, name, script.createCachedData());
      }
    },
  };
};

/** The bundle says so for `import` and `import.meta`, which a script outside of modules does not have. */
const resolveModule = (name: string): string => import.meta.resolve(name);
const importModule = (name: string): Promise<unknown> => import(name);

/** All of it was written as ES modules, which are strict. */
const wrapped = (source: string): string =>
  `(function (module, exports, require, importModule, resolveModule, __filename) {'use strict';${source}\n})`;
