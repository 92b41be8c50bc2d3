import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import ts from 'typescript';

/** A parsed source file. `path` is relative to the project root, with slashes. */
export interface Source {
  path: string;
  tree: ts.SourceFile;
  lineCount: number;
  imports: Import[];
}

/** An import, re-export or `import()` with a literal module name. */
export interface Import {
  from: Source;
  /** Module as written. */
  module: string;
  /** The project file, if it is one. */
  to: string | null;
  /** Imported names. `null` means all. */
  names: string[] | null;
  isTypeOnly: boolean;
  /** `path:line`. */
  at: string;
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
  const text = readFileSync(join(projectRoot(), path), 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineCount = text.replace(/\n$/, '').split('\n').length;
  const source: Source = { path, tree, lineCount, imports: [] };
  for (const node of nodes(source)) {
    const found = importOf(node);
    if (found) source.imports.push({ ...found, ...placed(source, found.module, node) });
  }
  return source;
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

const placed = (from: Source, module: string, node: ts.Node) => ({
  from,
  to: resolved(from.path, module),
  at: place(from, node),
});

export const place = (source: Source, node: ts.Node): string =>
  `${source.path}:${lineOf(source, node.getStart(source.tree))}`;

const lineOf = (source: Source, position: number): number =>
  source.tree.getLineAndCharacterOfPosition(position).line + 1;

type Found = Pick<Import, 'module' | 'names' | 'isTypeOnly'>;

const importOf = (node: ts.Node): Found | null => {
  if (ts.isImportDeclaration(node)) return declared(node.moduleSpecifier, node.importClause);
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) return reexported(node);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return named(node.arguments[0], null, false);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return named(node.argument.literal, node.qualifier ? [firstOf(node.qualifier)] : null, true);
  }
  return null;
};

const named = (module: ts.Node | undefined, names: string[] | null, isTypeOnly: boolean) =>
  module && ts.isStringLiteralLike(module) ? { module: module.text, names, isTypeOnly } : null;

const declared = (module: ts.Expression, clause: ts.ImportClause | undefined): Found | null => {
  const isTypeOnly = clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  const bindings = clause?.namedBindings;
  if (bindings && ts.isNamespaceImport(bindings)) return named(module, null, isTypeOnly);
  const names = bindings?.elements.map(originalName) ?? [];
  const isOnlyTypes =
    names.length > 0 && !!bindings?.elements.every((element) => element.isTypeOnly);
  return named(
    module,
    clause?.name ? ['default', ...names] : names,
    isTypeOnly || (isOnlyTypes && !clause?.name),
  );
};

const reexported = (node: ts.ExportDeclaration): Found | null => {
  const clause = node.exportClause;
  const names = clause && ts.isNamedExports(clause) ? clause.elements.map(originalName) : null;
  return named(node.moduleSpecifier, names, node.isTypeOnly);
};

const originalName = (element: ts.ImportSpecifier | ts.ExportSpecifier): string =>
  (element.propertyName ?? element.name).text;

const firstOf = (name: ts.EntityName): string =>
  ts.isIdentifier(name) ? name.text : firstOf(name.left);

/** Sources are imported by the names of their build output. */
const resolved = (from: string, module: string): string | null => {
  if (!module.startsWith('.')) return null;
  // The command line has a bundle beside its own modules.
  const path = join(dirname(from), module).replace(
    /^dist\/(commands(?=\/main\.js$))?/,
    (_, bundle) => (bundle ? 'cli' : ''),
  );
  const candidates = [path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx'), path];
  return candidates.find((candidate) => existsSync(join(projectRoot(), candidate))) ?? path;
};

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
