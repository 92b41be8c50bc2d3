import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ts from '@typescript/typescript6';
import { nodes, place, type Source, sources } from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** File names that end in -ing or -ed and yet are nouns, or adjectives that the field uses. */
const NOUNS = {
  cloudflared: 'the name of a program',
  feed: 'a noun',
  heading: 'a noun: the title of a view',
  keyring: 'a noun',
  outgoing: 'what the field calls such webhooks',
  ring: 'a noun: a ring buffer',
  routing: 'the noun of the API: which model answers what',
  spending: 'a noun: what was spent',
  unconfined: 'the name of the mode that confines nothing',
};

/** Participles without such an ending, which name no file either. */
const PARTICIPLES =
  /^(begun|built|done|found|given|gone|held|hidden|kept|known|left|lost|made|said|seen|sent|shown|taken|told|written)$/;

/** Words with which a docstring says nothing of what the thing is or does. */
const OPENING =
  /^\/\*\*\s*(\* )?(Of|What|Whatever|Whether|Who|Whoever|Whom|Whose|Those|Which|How|Where|That|Why|When)\b/;

const product = (): Source[] =>
  sources().filter(({ path }) => /^(src|cli|tui|web|migrations)\//.test(path));

describe('names', { timeout: 120_000 }, () => {
  it('declare each type once', () => {
    expect(declaredTwice(isType)).to.equal([]);
  });

  it('declare each exported function once', () => {
    expect(declaredTwice(isExportedFunction)).to.equal([]);
  });

  it('call files by the noun that they hold or the verb that they do', () => {
    const odd = sources().filter(({ path }) => {
      const name = /([a-z0-9]+)(\.test)?\.[jt]sx?$/.exec(path)?.[1] ?? '';
      return (/(ing|ed)$/.test(name) || PARTICIPLES.test(name)) && !(name in NOUNS);
    });
    expect(odd.map(({ path }) => path)).to.equal([]);
  });

  it('begin docstrings with what the thing is or does', () => {
    expect(product().flatMap(riddles)).to.equal([]);
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

const isType = (statement: ts.Statement): string[] =>
  ts.isInterfaceDeclaration(statement) ||
  ts.isTypeAliasDeclaration(statement) ||
  (ts.isClassDeclaration(statement) && statement.name)
    ? [statement.name?.text ?? '']
    : [];

const isExportedFunction = (statement: ts.Statement): string[] => {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isFunctionDeclaration(statement)) return [statement.name?.text ?? ''];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations
    .filter(({ initializer }) => initializer && ts.isArrowFunction(initializer))
    .map(({ name }) => name.getText());
};

const riddles = (source: Source): string[] => {
  const text = source.tree.getFullText();
  const found = new Set<string>();
  for (const node of nodes(source)) {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      const comment = text.slice(pos, end);
      if (OPENING.test(comment)) {
        found.add(`${source.path}: ${comment.replace(/\s+/g, ' ').slice(0, 80)}`);
      }
    }
  }
  return [...found];
};
