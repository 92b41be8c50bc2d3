import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ts from 'typescript';
import { graph, run } from './harness/graph.js';
import {
  found,
  nodes,
  none,
  product,
  projectRoot,
  type Source,
  sources,
} from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The last hands a daemon that it starts an environment. */
const ENVIRONMENT = [
  'src/config.ts',
  'src/proxy.ts',
  'src/client/session.ts',
  'cli/daemon/environment.ts',
  'tui/environment.ts',
];
const CLOCKS = ['src/kernel/clock.ts', 'web/state/clock.ts'];
const TIMERS = ['src/kernel/clock.ts', 'web/state/clock.ts'];
/** Schemas of any value; replies of every shape. */
const ANY = ['src/kernel/contract/schema.ts', 'test/harness/app.ts'];
/** The schema helpers, the table of handlers, where rows get their types, and what Ink draws on. */
const CASTS = [
  'src/kernel/contract/schema.ts',
  'src/kernel/contract/page.ts',
  'src/kernel/route.ts',
  'src/store/dialect.ts',
  'src/store/rows.ts',
  'src/store/store.ts',
  'src/store/tables/table.ts',
  'src/store/view.ts',
  ...['hooks/procedures/', 'jobs/procedures.ts', 'agents/procedures/', 'outbound/procedures/'].map(
    (path) => `src/${path}`,
  ),
  'src/system/backup/procedures.ts',
  'tui/canvas.tsx',
];
/** Files with rows that may have no owner. */
const OWNERLESS: Record<string, string> = {
  'src/channels/links.ts': 'a code that a platform asked for belongs to nobody yet: null',
};
const BARREL = 'src/client/index.ts';

/** Measures of speed and memory, and what waits for a time to pass. */
const MEASURES =
  /^(performance|cpuUsage|threadCpuUsage|memoryUsage|resourceUsage|setTimeout|watchLoop|measureInTurn|expectLinear)$/;
/** Helpers that may wait, and programs that print figures, which no test judges. */
const OUTSIDE = /^test\/(harness|bench)\//;

const desk = (): Source[] => sources().filter(({ path }) => path.startsWith('tui/'));
describe('architecture', () => {
  it('keeps the rules of .dependency-cruiser.cjs', () => {
    const { violations } = graph().summary;
    none(violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`));
  });

  it('has no exception in .dependency-cruiser.cjs that matches no import', () => {
    none(unusedExceptions());
  });

  it('has no folders that import each other in a circle', () => {
    none(folderCircles());
  });

  it('has no files that import each other in a circle', () => {
    const byPath = new Map(sources().map((source) => [source.path, source]));
    const imports = [...byPath].map(([path, source]) => [path, importsOf(source, byPath)] as const);
    none(inCircles(new Map(imports)));
  });

  it('uses all files, exports and packages, as knip.jsonc has it', () => {
    const { status, output } = run('knip/bin/knip.js', ['--treat-config-hints-as-errors']);
    expect({ status, output }).to.equal({ status: 0, output: '' });
  });

  it(`reads the environment in ${ENVIRONMENT.join(' and ')} alone`, () => {
    none(found(outside(ENVIRONMENT), readsEnvironment));
  });

  it(`asks the time in ${CLOCKS.join(' and ')} alone`, () => {
    none(found(outside(CLOCKS), asksTime));
  });

  it(`waits in ${TIMERS.join(' and ')} alone`, () => {
    none(found(outside(TIMERS), isTimer));
  });

  it('names keys of the desk in tui/keys.ts alone', () => {
    const rest = desk().filter(({ path }) => !/^tui\/(keys|input)\.ts$/.test(path));
    none(found(rest, isKey));
  });

  it('styles the desk in tui/theme.ts alone', () => {
    none(
      found(
        desk().filter(({ path }) => path !== 'tui/theme.ts'),
        isStyle,
      ),
    );
  });

  it('selects what a person may see by visibleTo alone', () => {
    const rest = outside(['src/accounts/', 'src/store/', ...Object.keys(OWNERLESS)]);
    none(found(rest, isOwnerCondition));
  });

  it('asserts by a select and not by an update that changes nothing', () => {
    none(found(product(), isIdleUpdate));
  });

  it('names files in lower case and by what they hold', () => {
    none(paths(sources().filter(({ path }) => path.split('/').some(isBadName))));
  });

  it(`passes exports on in ${BARREL} and in the faces of modules alone`, () => {
    const rest = outside([BARREL]).filter(({ path }) => !isFace(path));
    none(found(rest, (node) => ts.isExportDeclaration(node) && isPassedOn(node)));
  });

  it(`says any in ${ANY.join(' and ')} alone`, () => {
    const rest = sources().filter(({ path }) => !ANY.includes(path));
    none(found(rest, (node) => node.kind === ts.SyntaxKind.AnyKeyword));
  });

  it(`casts in ${CASTS.join(', ')} alone`, () => {
    none(found(outside(CASTS), isCast));
  });

  it('judges nothing by speed or memory in the fast tier, and sleeps nowhere', () => {
    none(found(fastTier(), isMeasure));
  });

  it('reads every setting', () => {
    none(unreadSettings());
  });

  it('has every file that its exceptions name', () => {
    const files = [
      ...ENVIRONMENT,
      ...CLOCKS,
      ...TIMERS,
      ...ANY,
      ...CASTS,
      ...Object.keys(OWNERLESS),
      BARREL,
    ];
    none(files.filter((path) => !existsSync(join(projectRoot(), path))));
  });
});

/** Elements of the lists of FLOORS. Migrations import no other files of the project. */
const unusedExceptions = (): string[] => {
  const rules: {
    forbidden: { name: string; from: { path: string }; to: { pathNot: string[] } }[];
  } = createRequire(import.meta.url)(join(projectRoot(), '.dependency-cruiser.cjs'));
  return rules.forbidden.flatMap(({ name, from, to }) => {
    if (!name.startsWith('files ') || name === 'files ^migrations/') return [];
    const imported = graph()
      .modules.filter(({ source }) => new RegExp(from.path).test(source))
      .flatMap(({ dependencies }) => dependencies.map(({ resolved }) => resolved));
    const isUnused = (path: string): boolean => !imported.some((one) => new RegExp(path).test(one));
    return to.pathNot.filter(isUnused).map((path) => `${name}: ${path}`);
  });
};

const paths = (found: Source[]): string[] => found.map(({ path }) => path);
const outside = (allowed: string[]): Source[] =>
  product().filter(({ path }) => !allowed.some((place) => path.startsWith(place)));
/**
 * Folders of modules that import each other, directly or not. A `module.ts` may import all that it
 * wires together.
 */
const folderCircles = (): string[] => {
  const needs = new Map<string, Set<string>>();
  for (const { source, dependencies } of graph().modules) {
    if (!isOfModule(source) || isFace(source)) continue;
    for (const { resolved } of dependencies) {
      const [own, other] = [dirname(source), dirname(resolved)];
      if (own === other || !isOfModule(resolved)) continue;
      needs.set(own, (needs.get(own) ?? new Set()).add(other));
    }
  }
  return inCircles(needs);
};

/** Those that need themselves, directly or not. */
const inCircles = (needs: Map<string, Iterable<string>>): string[] => {
  const left = new Map(needs);
  // Those that need nothing that is left are in no circle.
  for (let before = Infinity; left.size < before; ) {
    before = left.size;
    for (const [one, others] of left)
      if (![...others].some((other) => left.has(other))) left.delete(one);
  }
  const reached = (start: string): Set<string> => {
    const found = new Set(left.get(start));
    for (const one of found) for (const next of left.get(one) ?? []) found.add(next);
    return found;
  };
  return [...left.keys()].filter((one) => reached(one).has(one)).sort();
};

/**
 * Files that are loaded with a file, and those of its types. A command that is loaded on demand may
 * import the list of commands that loads it.
 */
const importsOf = ({ path, tree }: Source, byPath: Map<string, Source>): string[] =>
  tree.statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    const from = isImport ? statement.moduleSpecifier : undefined;
    if (!from || !ts.isStringLiteral(from) || !from.text.startsWith('.')) return [];
    const file = join(dirname(path), from.text);
    const written = [file, file.replace(/\.js$/, '.ts'), file.replace(/\.js$/, '.tsx')];
    return written.filter((one) => byPath.has(one));
  });

const isOfModule = (path: string): boolean => /^src\/(?!client\/)\w+\//.test(path);
/** The public file of a module. */
const isFace = (path: string): boolean => /^src\/\w+\/module\.ts$/.test(path);

const readsEnvironment = (node: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(node) && node.getText() === 'process.env') ||
  (ts.isImportDeclaration(node) && /\benv\b.*from 'node:process'/.test(node.getText()));

const asksTime = (node: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(node) && node.getText() === 'Date.now') ||
  (ts.isNewExpression(node) && isDate(node) && (node.arguments?.length ?? 0) === 0) ||
  (ts.isCallExpression(node) && isDate(node));
/** A call of a timer, or an import of one. */
const isTimer = (node: ts.Node): boolean =>
  (ts.isCallExpression(node) && TIMER_CALL.test(node.expression.getText())) ||
  (ts.isImportDeclaration(node) &&
    /\b(setTimeout|setInterval|scheduler)\b.*from '(node:)?timers(\/promises)?'/s.test(
      node.getText(),
    ));
const TIMER_CALL = /^((globalThis|window|self)\.)?(setTimeout|setInterval|AbortSignal\.timeout)$/;

const isDate = (node: ts.NewExpression | ts.CallExpression): boolean =>
  node.expression.getText() === 'Date';

/** A pressed key that is held against a letter; a use of Ink's own keys. */
const isKey = (node: ts.Node): boolean =>
  (ts.isBinaryExpression(node) && /^key [!=]== '/.test(node.getText())) ||
  (ts.isIdentifier(node) && node.text === 'useInput');

/** Codes of colour but the one that takes them back; what Ink would style by. */
const isStyle = (node: ts.Node): boolean =>
  (ts.isStringLiteralLike(node) && /\u001b\[(?!0m)[\d;]+m/.test(node.text)) ||
  (ts.isJsxAttribute(node) &&
    /^(color|backgroundColor|dimColor|bold|inverse)$/.test(node.name.getText()));

const isBadName = (name: string): boolean =>
  !/^[a-z0-9_]+(-[a-z0-9]+)*((\.(long|speed))?\.test)?(\.[jt]sx?)?$/.test(name) ||
  /^(utils?|helpers?|common|manager|data|info)\b/.test(name);

const isPassedOn = (node: ts.ExportDeclaration): boolean => node.moduleSpecifier !== undefined;

/** A condition on the owner of rows, whoever asks. */
const isOwnerCondition = (node: ts.Node): boolean =>
  ts.isCallExpression(node) &&
  /\.where(Ref)?$/.test(node.expression.getText()) &&
  /^['"](\w+\.)?user_id['"]$/.test(node.arguments[0]?.getText() ?? '') &&
  /^['"](=|==|is)['"]$/.test(node.arguments[1]?.getText() ?? '');

/** `set((of) => ({ status: of.ref('status') }))` and nothing else. */
const isIdleUpdate = (node: ts.Node): boolean =>
  ts.isCallExpression(node) &&
  /\.set$/.test(node.expression.getText()) &&
  /^\((\w+)\) => \(\{ (\w+): \1\.ref\('\2'\) \}\)$/.test(node.arguments[0]?.getText() ?? '');

/** `as unknown as T` is one cast. */
const isCast = (node: ts.Node): boolean =>
  ts.isTypeAssertionExpression(node) ||
  (ts.isAsExpression(node) &&
    !ts.isConstTypeReference(node.type) &&
    !ts.isAsExpression(node.parent));

/** A setting is read as `config.<key>`, by taking a Config apart, or through `Pick<Config, 'key'>`. */
const unreadSettings = (): string[] => {
  const config = sources().find(({ path }) => path === 'src/config.ts');
  const rest = product().filter((source) => source !== config);
  const read = new Set(rest.flatMap((source) => [...nodes(source)].flatMap(readSettings)));
  return settingsOf(config)
    .filter((key) => !read.has(key))
    .map((key) => `src/config.ts: nobody reads ${key}`);
};

const settingsOf = (config: Source | undefined): string[] =>
  (config ? [...nodes(config)] : []).flatMap((node) => {
    const isTable = ts.isVariableDeclaration(node) && node.name.getText() === 'settings';
    const table = isTable && node.initializer;
    if (!table || !ts.isObjectLiteralExpression(table)) return [];
    return table.properties.map((property) => property.name?.getText() ?? '');
  });

const readSettings = (node: ts.Node): string[] => {
  if (ts.isPropertyAccessExpression(node)) {
    return /\bconfig$/.test(node.expression.getText()) ? [node.name.text] : [];
  }
  if (ts.isTypeReferenceNode(node) && /^Pick<\s*Config\b/.test(node.getText())) {
    return [...node.getText().matchAll(/'(\w+)'/g)].map(([, key]) => key ?? '');
  }
  const isTaken = ts.isVariableDeclaration(node) || ts.isParameter(node);
  if (!isTaken || !ts.isObjectBindingPattern(node.name)) return [];
  const of = `${node.type?.getText() ?? ''} ${node.initializer?.getText() ?? ''}`;
  return /\b[cC]onfig\b/.test(of)
    ? node.name.elements.map((element) => (element.propertyName ?? element.name).getText())
    : [];
};

/** The tests of each change, with the helpers that they import. */
const fastTier = (): Source[] => {
  const byPath = new Map(sources().map((source) => [source.path, source]));
  const isFast = (path: string) =>
    /^test\/.*(?<!\.(long|speed))\.test\.tsx?$/.test(path) && !OUTSIDE.test(path);
  const reached = new Set([...byPath.keys()].filter(isFast));
  for (const path of reached) {
    const source = byPath.get(path);
    for (const resolved of source ? importsOf(source, byPath) : []) {
      if (resolved.startsWith('test/') && !OUTSIDE.test(resolved)) reached.add(resolved);
    }
  }
  return [...reached].flatMap((path) => byPath.get(path) ?? []);
};

const isMeasure = (node: ts.Node): boolean => ts.isIdentifier(node) && MEASURES.test(node.text);
