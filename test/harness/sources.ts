import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import ts from 'typescript';

/** A parsed source file. `path` is relative to the project root, with slashes. */
export interface Source {
  path: string;
  tree: ts.SourceFile;
}

const TYPED = ['src', 'cli', 'tui', 'web', 'migrations', 'test'];
const PLAIN = ['scripts', 'bin'];

/** Project folder, searched upwards from the built tests. */
export const projectRoot = (): string => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && existsSync(join(folder, 'tsconfig.json'))) return folder;
    if (folder === dirname(folder)) throw new Error('The tests lie outside of the project');
  }
};

let read: Source[] | undefined;

/** All sources of the project, read once. */
export const sources = (): Source[] => {
  read ??= [
    ...TYPED.flatMap((folder) => paths(folder, /\.tsx?$/)),
    ...PLAIN.flatMap((folder) => paths(folder, /\.js$/)),
  ].map(parse);
  return read;
};

const paths = (folder: string, pattern: RegExp): string[] => {
  const root = join(projectRoot(), folder);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort();
};

const parse = (path: string): Source => {
  let tree: ts.SourceFile | undefined;
  return {
    path,
    // Parsed on first use, since most tests look at a part of the sources.
    get tree() {
      const text = () => readFileSync(join(projectRoot(), path), 'utf8');
      tree ??= ts.createSourceFile(path, text(), ts.ScriptTarget.Latest, true);
      return tree;
    },
  };
};

/** All nodes of a file, parents first. */
export function* nodes(source: Source): Generator<ts.Node> {
  const waiting: ts.Node[] = [source.tree];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    yield node;
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => void children.push(child));
    waiting.push(...children.reverse());
  }
}

export const place = (source: Source, node: ts.Node): string =>
  `${source.path}:${lineOf(source, node.getStart(source.tree))}`;

const lineOf = (source: Source, position: number): number =>
  source.tree.getLineAndCharacterOfPosition(position).line + 1;

/** Product files, without tests. */
export const product = (): Source[] =>
  sources().filter(({ path }) => /^(src|cli|tui|web|migrations)\//.test(path));

/** Expects that nothing is wrong. */
export const none = (violations: string[]): void => {
  expect(violations).to.equal([]);
};

/** Places of the nodes that are wrong. */
export const found = (within: Source[], isWrong: (node: ts.Node) => boolean): string[] =>
  within.flatMap((source) =>
    [...nodes(source)].filter(isWrong).map((node) => `${place(source, node)}: ${line(node)}`),
  );
const line = (node: ts.Node): string => node.getText().split('\n', 1)[0]?.slice(0, 80) ?? '';
