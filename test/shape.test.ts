import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ts from '@typescript/typescript6';
import {
  found,
  lineOf,
  nodes,
  none,
  place,
  product,
  type Source,
  sources,
} from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The dependency that every module has, and its fixed members. */
const BASE = 'src/base.ts';
const BASE_MEMBERS = ['store', 'clock', 'log', 'http', 'boot', 'home'];
const FILE_LINES = 300;
/** A file under this many lines goes into the one that uses it. */
const SMALL_LINES = 15;
/** Small files by their kind, and those with a reason of their own. */
const SMALL_KINDS = /\/(module|contract|routes)\.ts$/;
const SMALL: Record<string, string> = {
  'src/version.ts': 'the version in package.json, for all programs',
  'src/http/document.ts': 'a program of the build',
  'src/triggerlist.ts': 'a program of the build',
  'src/kernel/redactthread.ts': 'the program of a thread',
  'src/channels/renderthread.ts': 'the program of a thread',
  'src/kernel/contract/headline.ts': 'one line of a notification, for the server and its clients',
  'src/kernel/headervalue.ts': 'one rule of ten modules, without what input checks load',
  'src/kernel/webpage.ts': 'the type of the pages of several modules',
  'src/accounts/users/page.ts': 'a list of pages',
  'src/providers/chat/markdown/plain.ts': 'plain text, for Slack and ntfy',
  'src/providers/chat/part.ts': 'one step of all platforms with buttons',
  'src/store/visible.ts': 'the condition that organizations will extend',
  'src/channels/procedures.ts': 'the procedures of channels',
  'src/hooks/payloads/tasks.ts': 'the list of a thread’s tasks',
  'cli/commands/experts.ts': 'a list of options',
  'cli/topics.ts': 'the texts of topics, beside their folder',
};
const TEST_LINES = 500;
const FUNCTION_LINES = 40;
/** Lines of a function with all that is nested in it. */
const NESTED_LINES = 60;
/** The same for a function that returns functions, each of which counts for itself. */
const OPENER_LINES = 150;
/** Functions that return values beside functions, and yet have as many lines as openers may have. */
const OPENERS: Record<string, string> = {
  'src/agents/control.ts: createControl': 'hands out the running agents beside its functions',
  'src/agents/record.ts: createRecord': 'the functions of a record return the record itself',
  'src/jobs/lanes.ts: createLaneStates': 'hands out the lanes that its functions change',
  'src/jobs/runner.ts: createRunner': 'hands out the table of handlers beside its functions',
  'src/system/doctor/queries.ts: doctorStore': 'passes a function of the store on',
  'src/system/tunnel/tunnel.ts: createTunnel': 'passes the functions of its parts on',
};
/** Names of functions that open a part of what their caller opens. */
const OPENS = /^((create|open)[A-Z]\w*|resource|\w+(Store|Queries|Rows))$/;
/** The dependencies of a module or of a part of it, beside the base. */
const DEPENDENCIES = 7;

const isTest = (source: Source): boolean => source.path.startsWith('test/');

describe('shape', { timeout: 120_000 }, () => {
  it('keeps files small', () => {
    none(sources().flatMap(tooLong));
  });

  it('keeps no file that is too small to be looked for', () => {
    const small = product().filter(({ lineCount }) => lineCount < SMALL_LINES);
    const odd = small.filter(({ path }) => !SMALL_KINDS.test(path));
    expect(odd.map(({ path }) => path).sort()).to.equal(Object.keys(SMALL).sort());
  });

  it('keeps functions small', () => {
    none(sources().flatMap((source) => found([source], (node) => isTooLong(source, node))));
  });

  it('keeps functions small with all that is nested in them', () => {
    const deep = product().flatMap((source) =>
      [...nodes(source)]
        .filter((node) => isTooDeep(source, node))
        .map((node) => named(source, node)),
    );
    expect(deep.sort()).to.equal(Object.keys(OPENERS).sort());
    const isEndless = (source: Source) => (node: ts.Node) =>
      ts.isFunctionLike(node) && 'body' in node && span(source, node) > OPENER_LINES;
    none(product().flatMap((source) => found([source], isEndless(source))));
  });

  it('gives every module the same base', () => {
    const base = sources().find(({ path }) => path === BASE);
    const [declared] = [...nodes(base as Source)].filter(ts.isInterfaceDeclaration);
    expect(declared?.members.map((member) => member.name?.getText())).to.equal(BASE_MEMBERS);
  });

  it(`gives nothing more than ${DEPENDENCIES} dependencies`, () => {
    none(tooManyDependencies());
  });

  it('hands dependencies over by name', () => {
    none(found(product(), isBag));
  });
});

const tooLong = (source: Source): string[] => {
  const cap = isTest(source) ? TEST_LINES : FILE_LINES;
  return source.lineCount > cap ? [`${source.path}: ${source.lineCount} lines of ${cap}`] : [];
};

const isTooLong = (source: Source, node: ts.Node): boolean =>
  ts.isFunctionLike(node) &&
  !isSuite(node) &&
  !isInOpener(source, node) &&
  ownLines(source, node) > FUNCTION_LINES;

const isTooDeep = (source: Source, node: ts.Node): boolean =>
  ts.isFunctionLike(node) &&
  'body' in node &&
  span(source, node) > (isOpener(source, node) ? OPENER_LINES : NESTED_LINES);

/** The function's file and name, or its line. */
const named = (source: Source, node: ts.Node): string =>
  ts.isVariableDeclaration(node.parent)
    ? `${source.path}: ${node.parent.name.getText()}`
    : place(source, node);

const isOpener = (source: Source, node: ts.FunctionLikeDeclaration): boolean =>
  isInOpener(source, node) || [...bodyOf(node)].some(isOpened);

/** True for what an opener returns: an object of functions, or a resource. */
const isOpened = (node: ts.Node): boolean =>
  ts.isCallExpression(node) ? node.expression.getText() === 'resource' : isObjectOfFunctions(node);

/** The values that a function returns: its expression, or those of its own return statements. */
const bodyOf = function* (node: ts.FunctionLikeDeclaration): Generator<ts.Node> {
  const { body } = node;
  if (!body) return;
  if (!ts.isBlock(body)) yield bare(body);
  else
    for (const each of body.statements)
      if (ts.isReturnStatement(each) && each.expression) yield bare(each.expression);
};

const bare = (node: ts.Node): ts.Node =>
  ts.isParenthesizedExpression(node) ? bare(node.expression) : node;

/** A function, a part that is opened, an object of those alone, or the name of one of them. */
const isObjectOfFunctions = (node: ts.Node): boolean => {
  if (ts.isArrowFunction(node)) return true;
  if (ts.isCallExpression(node)) return isOpenerCalled(node.expression);
  if (ts.isIdentifier(node)) return isNameOfFunctions(node);
  return ts.isObjectLiteralExpression(node) && node.properties.every(isFunctionMember);
};

/** `timers.rest` is a function of a part that is opened. */
const isFunctionMember = (node: ts.ObjectLiteralElementLike): boolean => {
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) return true;
  if (ts.isShorthandPropertyAssignment(node)) return isNameOfFunctions(node.name);
  const value = bare(ts.isSpreadAssignment(node) ? node.expression : node.initializer);
  return ts.isPropertyAccessExpression(value) || isObjectOfFunctions(value);
};

/** True if the call opens a part: by the name, or by what the same file declares under it. */
const isOpenerCalled = (callee: ts.Expression): boolean => {
  const called = ts.isIdentifier(callee) ? declaredAs(callee) : undefined;
  const values = called && ts.isArrowFunction(called) ? [...bodyOf(called)] : [];
  const isOpener = values.filter(ts.isObjectLiteralExpression).some(isObjectOfFunctions);
  return isOpener || OPENS.test(callee.getText());
};

/** True if the name is declared around the node for functions, or taken from a part. */
const isNameOfFunctions = (node: ts.Identifier): boolean => {
  const value = declaredAs(node);
  return value !== undefined && isObjectOfFunctions(bare(value));
};

/** The value with which a name is declared around its use. */
const declaredAs = (node: ts.Identifier): ts.Expression | undefined => {
  for (let at: ts.Node = node; at; at = at.parent) {
    if (!ts.isBlock(at) && !ts.isSourceFile(at)) continue;
    const declared = at.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .find(({ name }) => names(name).includes(node.text));
    if (declared) return declared.initializer;
  }
};

const names = (name: ts.BindingName): string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? names(element.name) : []));

/** True if the function opens modules, or is part of one that does. */
const isInOpener = ({ path }: Source, node: ts.Node): boolean => {
  if (!/^src\/(modules|resources)\.ts$/.test(path) && !/^src\/\w+\/module\.ts$/.test(path))
    return false;
  for (let at = node; at.parent; at = at.parent) {
    if (ts.isVariableDeclaration(at) && /^(open[A-Z]|resourcesOf$)/.test(at.name.getText())) {
      return true;
    }
  }
  return false;
};

/** An object of dependencies that is spread or picked from, and names that are spread to save lines. */
const isBag = (node: ts.Node): boolean => {
  if (ts.isSpreadAssignment(node)) {
    const of = node.expression;
    return (
      ts.isObjectLiteralExpression(of) ||
      /^(\w+[dD]eps|deps|parts|runtime|modules)$/.test(of.getText())
    );
  }
  return (
    ts.isTypeReferenceNode(node) && /^(Pick|Omit)<\s*\w*(Deps|Parts|Base)\b/.test(node.getText())
  );
};

/** Interfaces of dependencies with too many members, those that they inherit included. */
const tooManyDependencies = (): string[] => {
  const declared = new Map<string, ts.InterfaceDeclaration>();
  const all = product().flatMap((source) =>
    [...nodes(source)].filter(ts.isInterfaceDeclaration).map((node) => ({ source, node })),
  );
  for (const { node } of all) declared.set(node.name.text, node);
  const membersOf = (node: ts.InterfaceDeclaration): string[] => [
    ...node.members.map((member) => member.name?.getText() ?? ''),
    ...(node.heritageClauses ?? [])
      .flatMap(({ types }) => types.map((type) => declared.get(type.expression.getText())))
      .flatMap((base) => (base ? membersOf(base) : [])),
  ];
  return all
    .filter(({ node }) => node.name.text.endsWith('Deps'))
    .map(({ source, node }) => ({
      at: `${place(source, node)}: ${node.name.text}`,
      names: [...new Set(membersOf(node))].filter((name) => !BASE_MEMBERS.includes(name)),
    }))
    .filter(({ names }) => names.length > DEPENDENCIES)
    .map(({ at, names }) => `${at} has ${names.join(', ')}`);
};

/** `describe` only groups tests. */
const isSuite = (node: ts.Node): boolean =>
  ts.isCallExpression(node.parent) && node.parent.expression.getText() === 'describe';

/** A function within a function counts for itself, and with one line for what is around it. */
const ownLines = (source: Source, node: ts.Node): number => {
  let lines = span(source, node);
  const visit = (child: ts.Node): void => {
    if (ts.isFunctionLike(child)) lines -= span(source, child) - 1;
    else ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return lines;
};

const span = (source: Source, node: ts.Node): number =>
  lineOf(source, node.getEnd()) - lineOf(source, node.getStart(source.tree)) + 1;
