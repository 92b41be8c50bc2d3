import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { licensesOf } from './bundle.js';

/** Files that are served unchanged, under their own names. */
const ASSETS = [
  'manifest.webmanifest',
  'icons/icon.svg',
  'icons/icon-192.png',
  'icons/icon-512.png',
];

/**
 * Writes dist/web, the page for browsers: a script for the first view and one for each other
 * view, the stylesheet, the service worker, and the document that names them. Names of scripts
 * and the stylesheet contain a digest, so that browsers can cache them.
 */
export const bundleWeb = async (root) => {
  const source = join(root, 'web');
  const target = join(root, 'dist/web');
  if (!existsSync(join(source, 'main.tsx'))) return;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const output = await writeScripts(root, join(source, 'main.tsx'), {
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  });
  const worker = await writeScripts(root, join(source, 'worker/sw.ts'), {
    entryFileNames: 'sw.js',
  });
  const style = readFileSync(join(source, 'style.css'));
  const styleName = `style-${createHash('sha256').update(style).digest('base64url').slice(0, 8)}.css`;
  writeFileSync(join(target, styleName), style);
  const script = output.find(({ isEntry }) => isEntry).fileName;
  const html = readFileSync(join(source, 'index.html'), 'utf8');
  writeFileSync(
    join(target, 'index.html'),
    html.replace('{style}', styleName).replace('{script}', script),
  );
  for (const asset of ASSETS) cpSync(join(source, asset), join(target, basename(asset)));
  const modules = [...output, ...worker].flatMap(({ moduleIds = [] }) => moduleIds);
  writeFileSync(join(target, 'LICENSES.txt'), licensesOf(modules));
};

const writeScripts = async (root, entry, names) => {
  const build = await rolldown({
    cwd: root,
    input: entry,
    platform: 'browser',
    transform: { target: 'es2022', jsx: { runtime: 'automatic', importSource: 'preact' } },
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
    tsconfig: false,
  });
  const { output } = await build.write({
    dir: join(root, 'dist/web'),
    format: 'esm',
    minify: true,
    charset: 'ascii',
    ...names,
  });
  await build.close();
  return output;
};
