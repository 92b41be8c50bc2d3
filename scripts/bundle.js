import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Packages that every start loads. They are bundled with their own imports; all others stay where
 * npm put them and are loaded when they are needed.
 */
const BUNDLED =
  /^(@ai-sdk\/provider|@fastify\/busboy|@hapi\/(boom|bourne|hapi|nes|validate)|chardet|commander|croner|detect-libc|get-east-asian-width|htmlparser2|joi|jsonwebtoken|kysely|lossless-json|markdown-it|picomatch|pino|stemmer|ws|yaml|zod)(\/|$)/;
/**
 * Packages that threads load for one page, and processes for one document. Bundled, a page takes
 * half the processor time.
 */
const OF_THREADS =
  /^(@mozilla\/readability|colord|css-select|feedsmith|image-size|linkedom|postal-mime|stylis|turndown)(\/|$)/;
/** Optional parts of ws and linkedom. */
const ABSENT = /^(bufferutil|canvas|utf-8-validate)$/;
/** A module's own URL, or a file that it names relative to it; the file name is the first group. */
const OWN_URL = /new URL\(\s*['"]([^'"]+)['"],\s*import\.meta\.url,?\s*\)|import\.meta\.url/g;

/** Loaded at once by `adjutant serve`: first the code that opens the database, then the rest. */
const DAEMON = {
  entry: 'src/main.js',
  target: 'daemon',
  format: 'cjs',
  chunks: { start: ['src/main.js'], app: ['src/app.js'] },
};
/**
 * Loaded by every command; then code that many commands share: requests, contracts, live streams.
 */
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
 * Writes dist/daemon and dist/commands: the compiled daemon with its threads, and the command
 * line, in few files with the packages that every start loads. Finding, reading and compiling
 * 1,200 files one by one takes two fifths of the processor time of a start. Code that a start
 * does not need stays in separate files. Source maps are beside them, for `node
 * --enable-source-maps`. The daemon is CommonJS, so that its V8 code cache can be kept between
 * starts (src/bundle.ts).
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
 * Compiled thread scripts by file, each with its bundle: `store/thread/thread.js` goes to
 * `daemon/store-thread-thread/main.js`.
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

/** Writes one bundle. Resolves to the files of its modules. */
const write = async (dist, { entry, target, chunks, format = 'esm' }, threads) => {
  const build = await rolldown({
    cwd: dist,
    input: { main: join(dist, entry) },
    platform: 'node',
    transform: { target: 'node22.14' },
    external: isExternal(
      format === 'cjs' || target === COMMAND_LINE.target ? [BUNDLED] : [BUNDLED, OF_THREADS],
    ),
    plugins: [
      ownUrls(dist, target, threads),
      serverOfNes,
      ...(format === 'cjs' ? [importModules] : []),
    ],
    // Modules that are loaded both early and late are intended.
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

/** Names of CommonJS files in a package of ES modules. */
const CJS = { entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' };

/** Whether a package stays outside the bundle: it is neither bundled nor imported by one that is. */
const isExternal =
  (bundled) =>
  (name, importer = '') => {
    if (/^[./]/.test(name)) return false;
    if (ABSENT.test(name)) return true;
    return !(bundled.some((names) => names.test(name)) || importer.includes('/node_modules/'));
  };

/** Each chunk gets the modules that its entries import and no earlier chunk has. */
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
 * Modules find files beside them by their own URL. In a bundle they get the URL of the compiled
 * file, and thread scripts are found in their own bundles.
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

/** The client of nes is not used, and would load Node's fetch with each start. */
const serverOfNes = {
  name: 'server-of-nes',
  load: (id) => (id.endsWith('/@hapi/nes/lib/client.js') ? 'exports.Client = {};' : null),
};

/**
 * A script outside of modules has no `import` and no `import.meta`: src/bundle.ts provides
 * `importModule` and `resolveModule`. Chunks of the bundle require each other.
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

/** Licenses of the bundled packages, which must accompany every copy. */
export const licensesOf = (modules) => {
  const folders = modules.flatMap((path) => packageOf(path) ?? []);
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

/** The folder of a module's package. A published package may contain others without manifests. */
const packageOf = (path) => {
  const [folder] = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path) ?? [];
  if (folder === undefined || existsSync(join(folder, 'package.json'))) return folder;
  return packageOf(dirname(folder));
};
