import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ts from 'typescript';
import { LIBRARIES, modules } from './harness/order.js';
import {
  found,
  type Import,
  nodes,
  none,
  place,
  product,
  projectRoot,
  type Source,
  sources,
} from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Files that any module may import. `http` also reads the whole API. */
const SETTINGS = /^src\/(config|proxy|version)\.ts$/;
/** The dependency that every module has. */
const BASE = 'src/base.ts';
/**
 * Files that are loaded in threads of their own, which must not load a whole module: they import
 * single files.
 */
const THREADED =
  /^src\/(hooks\/(payloads|inbound)\/|system\/backup\/|[\w/]+\/procedures(\/|\.ts$))/;

/** Plain data that contracts are made of, and that imports the language of contracts alone. */
const PLAIN = [
  ...['executions/contract', 'inbound/contract'].map((name) => `src/hooks/${name}.ts`),
  ...['contract', 'presets', 'recipe'].map((name) => `src/hooks/senders/${name}.ts`),
  'src/models/facts.ts',
  'src/email/sending/fields.ts',
];

/** The list of the procedures of all modules, which the threads of the database load. */
const PROCEDURES = /^src\/procedures\.ts$/;

/** Which files outside the modules may import which of the project's: the first line that fits holds. */
/** The modules of the server that run in the page. */
const PAGE_RULES = ['src/kernel/pagepath.ts', 'src/kernel/jsonvalue.ts', 'src/client/replytext.ts'];
const FLOORS: { who: RegExp; may: RegExp }[] = [
  { who: /^migrations\//, may: /^migrations\// },
  { who: /^src\/api\.ts$/, may: /^src\/([\w/]+\/contract\.ts|kernel\/)/ },
  { who: SETTINGS, may: /^src\/kernel\// },
  { who: PROCEDURES, may: /^src\/(store\/|[\w/]+\/procedures(\/\w+)?\.ts$)/ },
  { who: /^src\/base\.ts$/, may: /^src\/(store|kernel)\// },
  {
    who: /^src\/modules\.ts$/,
    may: /^(migrations\/|src\/(\w+\/module\.ts$|(base|config|version)\.ts$|(kernel|store|providers)\/))/,
  },
  {
    who: /^src\/resources\.ts$/,
    may: /^src\/(modules\.ts$|kernel\/|store\/)/,
  },
  { who: /^src\/lifecycle\.ts$/, may: /^src\/(modules|kernel\/watch)\.ts$/ },
  { who: /^src\/open\.ts$/, may: /^(migrations\/|src\/(config\.ts|(secrets|store|kernel)\/))/ },
  { who: /^src\/app\.ts$/, may: /^(migrations\/|src\/(?!main\.ts|client\/))/ },
  {
    who: /^src\/(recover|rollback|backup|auditverify|operator)\.ts$/,
    may: /^(migrations\/|src\/(?!main\.ts|app\.ts|client\/))/,
  },
  { who: /^src\/main\.ts$/, may: /^src\/((app|open|config|version)\.ts$|(store|kernel)\/)/ },
  { who: /^src\/triggerlist\.ts$/, may: /^(migrations\/|src\/store\/)/ },
  { who: /^src\/bundle\.ts$/, may: /^src\/(main|kernel\/codecache)\.ts$/ },
  {
    who: /^src\/client\//,
    may: /^src\/(client\/|api\.ts|[\w/]+\/contract\.ts|hooks\/senders\/|kernel\/(contract\/|(exactjson|ids|jsonvalue|private)\.ts))/,
  },
  {
    who: /^cli\//,
    may: /^(cli\/|src\/(client\/|kernel\/(nearest|normalform|private|shellword|width)\.ts))/,
  },
  // Both desks make text from outside safe in one place, ask one clock, lend the terminal alike, and
  // show the settings of a webhook as the command line does.
  {
    who: /^tui\//,
    may: /^(tui\/|src\/(client\/|kernel\/width\.ts$)|cli\/(text|placed|editor|capabilities\/machine|foreground|hooks\/senders\/form|operations\/(bar|counts)|pipelines\/tree|tunnel\/reach)\.ts$)/,
  },
  // Of the server the page has these rules alone, and types.
  {
    who: /^web\//,
    may: /^(web\/|cli\/operations\/counts\.ts$|tui\/(theme|parts\/(times|zones))\.ts$|src\/(api\.ts$|client\/replytext\.ts$|kernel\/((pagepath|jsonvalue)\.ts$|contract\/)|[\w/]+\/contract\.ts$))/,
  },
];
/**
 * `serve` is the daemon: it is the one command that becomes it; `recover`, `rollback` and parts of
 * `audit` and `backup` work where none runs.
 * `help environment` prints its settings. A tool's login is made by a person, at the HOME it will have.
 * `tui` opens the desk.
 */
const DAEMON_IMPORTS = [
  'cli/commands/serve.ts → src/bundle.ts',
  'cli/commands/recover.ts → src/recover.ts',
  'cli/commands/recover.ts → src/rollback.ts',
  'cli/commands/admin.ts → src/auditverify.ts',
  'cli/commands/backup.ts → src/backup.ts',
  'cli/commands/environment.ts → src/config.ts',
  'cli/models/groups.ts → src/providers/clitools/login.ts',
  'cli/commands/tui.ts → tui/linear/desk.ts',
  'cli/commands/tui.ts → tui/main.ts',
  'cli/commands/tui.ts → tui/environment.ts',
];

/** Packages that belong to one place. */
const PACKAGES: { module: RegExp; only: RegExp }[] = [
  { module: /^better-sqlite3$/, only: /^src\/(store\/|[\w/]*procedures(\/\w+)?\.ts$)/ },
  {
    module: /^@hapi\/boom$/,
    only: /^src\/(accounts|agents|approvals|capabilities|channels|conversations|documents|email|experts|folders|hooks|http|knowledge|memories|models|operations|outbound|permissions|pipelines|reader|recurring|research|skills|system|tasks|vault|voice|kernel\/(route|replay|raw|input|form|formpace|jsonform)\.ts$)/,
  },
  {
    module: /^(@hapi\/(hapi|nes|inert|vision)|hapi-swagger)\b/,
    only: /^src\/(http\/|client\/|app\.ts$|kernel\/(route|replay|input)\.ts$)/,
  },
  { module: /^commander$/, only: /^cli\// },
  { module: /^markdown-it$/, only: /^src\/providers\/chat\/markdown\// },
  { module: /^(ink|react)\b/, only: /^tui\// },
  { module: /^preact\b/, only: /^web\// },
  { module: /^web-push$/, only: /^src\/channels\/push\// },
];
/** All that the client needs at run time, so that it works where the server is not installed. */
const CLIENT_PACKAGES = ['joi', 'lossless-json', 'ws'];

/** The last hands a daemon that it starts an environment. */
const ENVIRONMENT = [
  'src/config.ts',
  'src/proxy.ts',
  'src/client/session.ts',
  'cli/daemon/environment.ts',
  'tui/environment.ts',
];
const CLOCKS = ['src/kernel/clock.ts', 'cli/text.ts', 'web/state/clock.ts'];
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

const desk = (): Source[] => sources().filter(({ path }) => path.startsWith('tui/'));
describe('architecture', { timeout: 120_000 }, () => {
  it('imports of the modules before its own alone', () => {
    none(product().flatMap((source) => source.imports.flatMap(wrongFloor)));
  });

  it('imports the faces of other modules alone', () => {
    const imports = product().flatMap((source) => source.imports);
    none(imports.filter(isPastFace).map(({ at, to }) => `${at}: imports ${to}`));
  });

  it('opens every module, once', () => {
    const faces = paths(sources()).flatMap(
      (path) => /^src\/(\w+)\/module\.ts$/.exec(path)?.[1] ?? [],
    );
    const opened = modules.filter((name) => !LIBRARIES.includes(name));
    expect([...opened].sort()).to.equal(faces.sort());
  });

  it('has a place in the order for every file', () => {
    const placed = ({ path }: Source) =>
      moduleOf(path) >= 0 || FLOORS.some(({ who }) => who.test(path));
    none(paths(product().filter((source) => !placed(source))));
    none(modules.filter((name) => !existsSync(join(projectRoot(), 'src', name))));
  });

  it('writes contracts in the language of contracts alone', () => {
    const isPlain = (path: string | null | undefined) => PLAIN.includes(path ?? '');
    const contracts = product().filter(
      ({ path }) => path.endsWith('/contract.ts') || isPlain(path),
    );
    const others = contracts.flatMap(({ imports }) =>
      imports.filter(
        ({ to, module }) =>
          !to?.startsWith('src/kernel/contract/') && !isPlain(to) && module !== 'joi',
      ),
    );
    none(others.map(({ at, module }) => `${at}: imports ${module}`));
  });

  it('has no folders that import each other in a circle', () => {
    expect(circles()).to.equal([]);
  });

  it('keeps packages where they belong', () => {
    none(product().flatMap((source) => source.imports.flatMap(wrongPackage)));
  });

  it(`runs the client on ${CLIENT_PACKAGES.join(' and ')} alone`, () => {
    none(packagesUnder('src/client/').filter((module) => !CLIENT_PACKAGES.includes(module)));
  });

  it('brings nothing of the server but paths and pure rules of texts into the page', () => {
    const own = product().filter(({ path }) => path.startsWith('web/'));
    const wrong = own
      .flatMap(({ imports }) => imports)
      .filter(({ to, isTypeOnly }) => to?.startsWith('src/') && !isTypeOnly)
      .filter(({ to }) => !PAGE_RULES.includes(to ?? ''));
    none(wrong.map(({ at, to }) => `${at}: imports ${to}`));
  });

  it(`reads the environment in ${ENVIRONMENT.join(' and ')} alone`, () => {
    none(found(outside(ENVIRONMENT), readsEnvironment));
  });

  it(`asks the time in ${CLOCKS.join(' and ')} alone`, () => {
    none(found(outside(CLOCKS), asksTime));
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

  it('exports by name', () => {
    none(found(sources(), (node) => ts.isExportAssignment(node) || isDefault(node)));
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

  it('imports what it exports', () => {
    none(unusedExports());
  });

  it('reads every setting', () => {
    none(unreadSettings());
  });

  it('has every file that its exceptions name', () => {
    const named = [
      ...DAEMON_IMPORTS.flatMap((door) => door.split(' → ')),
      ...ENVIRONMENT,
      ...CLOCKS,
    ];
    const files = [...named, ...ANY, ...CASTS, ...Object.keys(OWNERLESS), BARREL];
    none(files.filter((path) => !existsSync(join(projectRoot(), path))));
  });
});

const paths = (found: Source[]): string[] => found.map(({ path }) => path);
const outside = (allowed: string[]): Source[] =>
  product().filter(({ path }) => !allowed.some((place) => path.startsWith(place)));
/** Where a file's module stands in the order; -1: it is of none. */
const moduleOf = (path: string): number => modules.indexOf(/^src\/(\w+)\//.exec(path)?.[1] ?? '');

const wrongFloor = ({ from, to, at }: Import): string[] => {
  if (to === null || DAEMON_IMPORTS.includes(`${from.path} → ${to}`)) return [];
  return mayImport(from.path, to) ? [] : [`${at}: imports ${to}`];
};

const mayImport = (from: string, to: string): boolean => {
  const own = moduleOf(from);
  if (own < 0) return FLOORS.find(({ who }) => who.test(from))?.may.test(to) ?? false;
  if (PROCEDURES.test(to)) return from.startsWith('src/store/');
  if (SETTINGS.test(to) || to === BASE || (to === 'src/api.ts' && from.startsWith('src/http/')))
    return true;
  return moduleOf(to) >= 0 && moduleOf(to) <= own;
};

/** Folders that import each other, each circle as its folders; the openers of modules are in none. */
const circles = (): string[] => {
  const needs = new Map<string, Set<string>>();
  for (const { from, to } of sources().flatMap(({ imports }) => imports)) {
    if (to === null || moduleOf(from.path) < 0 || moduleOf(to) < 0) continue;
    if (from.path.endsWith('/module.ts')) continue;
    const [own, other] = [dirname(from.path), dirname(to)];
    if (own !== other) needs.set(own, (needs.get(own) ?? new Set()).add(other));
  }
  const reached = (start: string): Set<string> => {
    const found = new Set(needs.get(start));
    for (const folder of found) for (const next of needs.get(folder) ?? []) found.add(next);
    return found;
  };
  return [...needs.keys()].filter((folder) => reached(folder).has(folder)).sort();
};

/** The public files of a module. */
const isFace = (path: string): boolean => /^src\/\w+\/module\.ts$/.test(path);

/** True if a file of a module imports another file of another module than its face or contract. */
const isPastFace = ({ from, to }: Import): boolean => {
  const own = moduleOf(from.path);
  const other = moduleOf(to ?? '');
  if (to === null || own < 0 || other < 0 || own === other) return false;
  if (LIBRARIES.includes(modules[other] ?? '') || THREADED.test(from.path)) return false;
  return !isFace(to) && !to.endsWith('/contract.ts');
};

const wrongPackage = ({ from, module, at }: Import): string[] =>
  PACKAGES.some((rule) => rule.module.test(module) && !rule.only.test(from.path))
    ? [`${at}: imports ${module}`]
    : [];

/** What is loaded at run time by the files in a folder and by all that they import. */
const packagesUnder = (folder: string): string[] => {
  const byPath = new Map(sources().map((source) => [source.path, source]));
  const reached = new Set([...byPath.keys()].filter((path) => path.startsWith(folder)));
  const packages = new Set<string>();
  for (const path of reached) {
    for (const { to, module, isTypeOnly } of byPath.get(path)?.imports ?? []) {
      if (isTypeOnly || module.startsWith('node:')) continue;
      if (to === null) packages.add(module);
      else reached.add(to);
    }
  }
  return [...packages];
};

const readsEnvironment = (node: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(node) && node.getText() === 'process.env') ||
  (ts.isImportDeclaration(node) && /\benv\b.*from 'node:process'/.test(node.getText()));

const asksTime = (node: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(node) && node.getText() === 'Date.now') ||
  (ts.isNewExpression(node) && isDate(node) && (node.arguments?.length ?? 0) === 0) ||
  (ts.isCallExpression(node) && isDate(node));
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

const modifiersOf = (node: ts.Node): ts.SyntaxKind[] =>
  ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []).map(({ kind }) => kind) : [];
const isDefault = (node: ts.Node): boolean =>
  modifiersOf(node).includes(ts.SyntaxKind.DefaultKeyword) ||
  (ts.isExportSpecifier(node) && node.name.text === 'default');
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

const unusedExports = (): string[] => {
  const used = new Map<string, Set<string>>();
  for (const { to, names } of sources().flatMap(({ imports }) => imports)) {
    const known = used.get(to ?? '') ?? new Set();
    for (const name of names ?? ['*']) known.add(name);
    used.set(to ?? '', known);
  }
  const isUsed = (path: string, name: string) =>
    used.get(path)?.has(name) || used.get(path)?.has('*');
  return sources()
    .filter(({ path }) => !path.endsWith('.test.ts'))
    .flatMap((source) =>
      source.tree.statements.flatMap((statement) =>
        exportedNames(statement)
          .filter((name) => !isUsed(source.path, name))
          .filter((name) => !(isType(statement) && isNamedAgain(source, name)))
          .map((name) => `${place(source, statement)}: nobody imports ${name}`),
      ),
    );
};

/** A type that an exported function of the same file takes or gives is part of what it exports. */
const isType = (node: ts.Statement): boolean =>
  ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
const isNamedAgain = ({ tree }: Source, name: string): boolean =>
  (tree.text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1;

const exportedNames = (node: ts.Statement): string[] => {
  if (ts.isExportDeclaration(node)) {
    const clause = node.exportClause;
    return clause && ts.isNamedExports(clause) ? clause.elements.map(({ name }) => name.text) : [];
  }
  if (!modifiersOf(node).includes(ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.flatMap(boundNames);
  const { name } = node as ts.DeclarationStatement;
  return name ? [name.getText()] : [];
};

const boundNames = ({ name }: { name: ts.BindingName }): string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element) : []));

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
