import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * The packages that starts load. They go into the bundles with what they import themselves; all
 * others stay where npm put them, and are loaded when they are needed.
 */
const BUNDLED =
  /^(@hapi\/(boom|bourne|hapi|nes|validate)|commander|croner|detect-libc|joi|jsonwebtoken|kysely|markdown-it|stemmer|ws)(\/|$)/;
/** Optional parts of ws, which it does without. */
const ABSENT = /^(bufferutil|utf-8-validate)$/;
/** A module's own URL, or a file that it names by it, of which the name is the first group. */
const OWN_URL = /new URL\(\s*['"]([^'"]+)['"],\s*import\.meta\.url,?\s*\)|import\.meta\.url/g;

/** What `adjutant serve` loads at once: first what opens the database, then all the rest. */
const DAEMON = {
  entry: 'src/main.js',
  target: 'daemon',
  format: 'cjs',
  chunks: { start: ['src/main.js'], app: ['src/app.js'] },
};
/** What every command loads, and then what many share: requests, contracts, what they follow. */
const COMMAND_LINE = {
  entry: 'cli/main.js',
  target: 'commands',
  chunks: {
    start: ['cli/main.js', 'cli/commands/help.js'],
    requests: ['cli/crud.js', 'cli/request.js', 'src/client/index.js'],
    contracts: ['src/kernel/contract/page.js'],
    live: ['cli/live.js'],
  },
};

/**
 * Writes dist/daemon and dist/commands: the compiled daemon with its threads, and the command line,
 * in few files with the packages that every start loads. To find, read and compile 1,200 files one
 * by one is two fifths of the processor time of a start. What a start does not need stays in files
 * of its own. Source maps are beside them, for `node --enable-source-maps`. The daemon is CommonJS, so
 * that what V8 makes of it can be kept from one start to the next (src/bundle.ts).
 */
export const bundle = async (root) => {
  const dist = join(root, 'dist');
  if (!existsSync(join(dist, 'src/main.js'))) return;
  const threads = threadsOf(join(dist, 'src'));
  const bundles = [DAEMON, COMMAND_LINE, ...Object.values(threads)];
  for (const { target } of bundles) rmSync(join(dist, target), { recursive: true, force: true });
  const modules = await Promise.all(bundles.map((each) => write(dist, each, threads)));
  writeFileSync(join(dist, 'daemon/LICENSES.txt'), licensesOf(modules.flat()));
};

/**
 * The compiled scripts of threads by their files, each with its bundle: `store/thread/thread.js`
 * goes to `daemon/store-thread-thread/main.js`.
 */
const threadsOf = (source) => {
  const modules = readdirSync(source, { recursive: true }).filter((path) => path.endsWith('.js'));
  const paths = modules.flatMap((path) =>
    [...readFileSync(join(source, path), 'utf8').matchAll(OWN_URL)]
      .map(([, name]) => name && join(dirname(path), name))
      .filter((named) => modules.includes(named) && existsSync(join(source, `${named}.map`))),
  );
  return Object.fromEntries(
    paths.map((path) => {
      const target = `daemon/${path.replace(/\.js$/, '').replaceAll('/', '-')}`;
      return [join(source, path), { entry: `src/${path}`, target, chunks: {} }];
    }),
  );
};

/** Writes one bundle; resolves to the files of all modules in it. */
const write = async (dist, { entry, target, chunks, format = 'esm' }, threads) => {
  const build = await rolldown({
    cwd: dist,
    input: { main: join(dist, entry) },
    platform: 'node',
    transform: { target: 'node22.14' },
    external: isExternal,
    plugins: [ownUrls(dist, target, threads), ...(format === 'cjs' ? [importModules] : [])],
    // That a module is loaded early and late is intended.
    onLog: () => undefined,
  });
  const { output } = await build.write({
    dir: join(dist, target),
    format,
    ...(format === 'cjs' && CJS),
    sourcemap: true,
    minify: { compress: true, mangle: false, codegen: true },
    charset: 'ascii',
    codeSplitting: { groups: groupsOf(dist, chunks) },
  });
  await build.close();
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
};

/** The names of CommonJS files in a package of ES modules. Whatever was no module is loaded as it was. */
const CJS = { entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' };

/** True for a package that stays outside: one that is not in every start, nor imported by such. */
const isExternal = (name, importer = '') => {
  if (/^[./]/.test(name)) return false;
  return ABSENT.test(name) || !(BUNDLED.test(name) || importer.includes('/node_modules/'));
};

/** Each chunk takes the modules that its entries import, of those that no chunk before it took. */
const groupsOf = (dist, chunks) =>
  Object.entries(chunks).map(([name, entries], at) => {
    const files = entries.map((path) => join(dist, path));
    let modules = null;
    return {
      name: (id, graph) => {
        modules ??= importedBy(files, graph);
        return modules.has(id) ? name : null;
      },
      priority: Object.keys(chunks).length - at,
    };
  });

const importedBy = (files, graph) => {
  const modules = new Set(files);
  for (const id of modules) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
  }
  return modules;
};

/**
 * Modules find files beside them by their own URL. In a bundle they are given that of the file that
 * they were compiled to, and the scripts of threads are found in theirs.
 */
const ownUrls = (dist, target, threads) => ({
  name: 'own-urls',
  transform: (code, id) => {
    if (!id.startsWith(dist) || !code.includes('import.meta.url')) return null;
    const fromTarget = (path) => relative(join(dist, target), path);
    const own = `new URL('${fromTarget(id)}', import.meta.url).href`;
    return code.replace(OWN_URL, (whole, name) => {
      const thread = name && threads[join(dirname(id), name)];
      if (!thread) return whole.replace('import.meta.url', own);
      return `new URL('${fromTarget(join(dist, thread.target, 'main.js'))}', import.meta.url)`;
    });
  },
});

/**
 * A script outside of modules has no `import`, and no `import.meta`: src/bundle.ts gives it
 * `importModule` and `resolveModule`. Chunks of the bundle are required by each other.
 */
const importModules = {
  name: 'import-modules',
  transform: (code) => {
    const given = code.replaceAll('import.meta.resolve(', 'resolveModule(');
    return given === code ? null : given;
  },
  renderChunk: (code) => ({
    code: code.replace(/(?<![\w$.])import\((?=[\w$"'`])/g, 'importModule('),
  }),
};

/** The licenses of the packages in the bundles, which ask to be kept with every copy. */
export const licensesOf = (modules) => {
  const folders = modules.flatMap(
    (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      );
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      const text = file ? readFileSync(join(folder, file), 'utf8').trim() : license;
      return `${name} ${version}\n\n${text}\n`;
    })
    .join('\n----\n\n');
};
