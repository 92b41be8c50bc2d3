import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ts from 'typescript';
import { type Import, type Source, sources } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** What a module loads at once; what is imported by a call is loaded when it is needed. */
const importsOf = ({ tree, imports }: Source): Import[] => {
  const declared = tree.statements
    .filter((node) => ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
    .filter((node) => !(ts.isImportDeclaration(node) && isOfTypes(node)))
    .map((node) => node.moduleSpecifier?.getText(tree).slice(1, -1));
  return imports.filter(({ module, isTypeOnly }) => !isTypeOnly && declared.includes(module));
};

const isOfTypes = ({ importClause }: ts.ImportDeclaration): boolean =>
  importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;

/** The packages that are loaded with a module of the project, node's own left out. */
const packagesOf = (path: string): string[] => {
  const all = new Map(sources().map((source) => [source.path, source]));
  const seen = new Set<string>();
  const packages = new Set<string>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const source = all.get(next);
    if (!source || seen.has(next)) continue;
    seen.add(next);
    for (const { to, module } of importsOf(source)) {
      if (to !== null) waiting.push(to);
      else if (!module.startsWith('node:')) packages.add(module);
    }
  }
  return [...packages].sort();
};

/** Those that become or take the place of the daemon, and the screen. */
const HEAVY = ['serve', 'recover', 'environment', 'tui'];

describe('what a command loads', () => {
  it('is next to nothing for help', () => {
    expect(packagesOf('cli/main.ts')).to.equal(['commander']);
    expect(packagesOf('cli/commands/help.ts')).to.equal(['commander']);
    expect(packagesOf('cli/completion/candidates.ts')).to.equal(['commander']);
  });

  it('is no screen for the desk line by line', () => {
    expect(packagesOf('tui/linear/desk.ts')).to.equal([]);
  });

  it('is neither a server nor a database nor a screen for the others', () => {
    const names = sources()
      .map(({ path }) => /^cli\/commands\/([\w-]+)\.tsx?$/.exec(path))
      .flatMap((match) => (match && !HEAVY.includes(match[1] ?? '') ? [match[0]] : []));
    const heavy = /^(@hapi\/hapi|better-sqlite3|kysely|ink|react|pino|ai|@ai-sdk\/.*|undici)$/;
    const found = names.map((path) => [path, packagesOf(path).filter((name) => heavy.test(name))]);
    expect(names.length).to.be.above(20);
    expect(found.filter(([, packages]) => packages?.length)).to.equal([]);
  });
});
