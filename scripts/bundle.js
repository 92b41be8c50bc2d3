import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

/**
 * The packages that every start loads. They go into the bundle with what they import themselves;
 * all others stay where npm put them, and are loaded when they are needed.
 */
const BUNDLED = /^(@hapi\/(boom|bourne|hapi|nes|validate)|croner|joi|jsonwebtoken|kysely|ws)(\/|$)/;
/** Optional parts of ws, which it does without. */
const ABSENT = /^(bufferutil|utf-8-validate)$/;
/** A module's own URL, or a file that it names by it, of which the name is the first group. */
const OWN_URL = /new URL\(\s*['"]([^'"]+)['"],\s*import\.meta\.url,?\s*\)|import\.meta\.url/g;
/** Packages in CommonJS call `require` for the modules of Node. */
const BANNER =
  "import { createRequire as createRequireHere } from 'node:module';\n" +
  'const require = createRequireHere(import.meta.url);';

/**
 * Writes dist/daemon: the compiled daemon in few files, with the packages that every start loads.
 * To find, read and compile 1,200 files one by one is two fifths of the processor time of a start.
 * What a start does not need stays in files of its own, as do the threads. Source maps are beside
 * them, for `node --enable-source-maps`.
 */
export const bundle = async (root) => {
  const source = join(root, 'dist/src');
  const target = join(root, 'dist/daemon');
  if (!existsSync(join(source, 'main.js'))) return;
  const threads = threadsOf(source);
  rmSync(target, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: join(source, 'main.js'), ...threads },
    outdir: target,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    banner: { js: BANNER },
    metafile: true,
    logLevel: 'error',
    plugins: [external, ownUrls(source, { target, threads })],
  });
  writeFileSync(join(target, 'LICENSES.txt'), licensesOf(root, Object.keys(metafile.inputs)));
};

/** The compiled scripts of threads, by their names in the bundle: `store-thread-thread`. */
const threadsOf = (source) => {
  const modules = readdirSync(source, { recursive: true }).filter((path) => path.endsWith('.js'));
  const paths = modules.flatMap((path) =>
    [...readFileSync(join(source, path), 'utf8').matchAll(OWN_URL)]
      .map(([, name]) => name && join(dirname(path), name))
      .filter((named) => modules.includes(named) && existsSync(join(source, `${named}.map`))),
  );
  return Object.fromEntries(paths.map((path) => [nameOf(path), join(source, path)]));
};

const nameOf = (path) => path.replace(/\.js$/, '').replaceAll('/', '-');

/** Leaves packages outside that are not in every start, unless a bundled one imports them. */
const external = {
  name: 'external',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point') return undefined;
      const isBundled = BUNDLED.test(path) || importer.includes('/node_modules/');
      return isBundled && !ABSENT.test(path) ? undefined : { path, external: true };
    });
  },
};

/**
 * Modules of the daemon find files beside them by their own URL. In the bundle they are given that
 * of the file that they were compiled to, and the scripts of threads are found in the bundle.
 */
const ownUrls = (source, { target, threads }) => ({
  name: 'own-urls',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/dist\/(src|migrations)\/.*\.js$/ }, ({ path }) => {
      const own = `new URL('${relative(target, path)}', import.meta.url).href`;
      const contents = readFileSync(path, 'utf8').replace(OWN_URL, (whole, name) => {
        const thread = name && nameOf(relative(source, join(dirname(path), name)));
        if (thread in threads) return `new URL('./${thread}.js', import.meta.url)`;
        return whole.replace('import.meta.url', own);
      });
      return { contents, loader: 'js' };
    });
  },
});

/** The licenses of the packages in the bundle, which ask to be kept with every copy. */
const licensesOf = (root, inputs) => {
  const folders = inputs.flatMap(
    (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(root, folder, 'package.json'), 'utf8'),
      );
      const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
      const text = file ? readFileSync(join(root, folder, file), 'utf8').trim() : license;
      return `${name} ${version}\n\n${text}\n`;
    })
    .join('\n----\n\n');
};
