import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ts from 'typescript';
import { place, type Source, sources } from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

const product = (): Source[] =>
  sources().filter(({ path }) => /^(src|cli|tui|web|migrations)\//.test(path));

describe('names', () => {
  it('declare each exported type once', () => {
    expect(declaredTwice(isExportedType)).to.equal([]);
  });

  it('declare each exported function once', () => {
    expect(declaredTwice(isExportedFunction)).to.equal([]);
  });
});

interface Declaration {
  name: string;
  at: string;
}

/** Names that are declared in more than one file, each with its places. */
const declaredTwice = (of: (statement: ts.Statement) => string[]): string[] => {
  const all = product().flatMap((source) =>
    source.tree.statements.flatMap((statement) =>
      of(statement).map((name): Declaration => ({ name, at: place(source, statement) })),
    ),
  );
  const places = new Map<string, Set<string>>();
  for (const { name, at } of all) {
    const file = at.replace(/:\d+$/, '');
    places.set(name, (places.get(name) ?? new Set()).add(file));
  }
  return [...places]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => `${name}: ${[...files].join(', ')}`);
};

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

const isExportedType = (statement: ts.Statement): string[] =>
  isExported(statement) &&
  (ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isClassDeclaration(statement))
    ? [statement.name?.text ?? '']
    : [];

const isExportedFunction = (statement: ts.Statement): string[] => {
  if (!isExported(statement)) return [];
  if (ts.isFunctionDeclaration(statement)) return [statement.name?.text ?? ''];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations
    .filter(({ initializer }) => initializer && ts.isArrowFunction(initializer))
    .map(({ name }) => name.getText());
};
