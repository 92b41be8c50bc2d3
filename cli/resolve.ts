import { nearest } from '../src/kernel/nearest.js';
import { isSameName } from '../src/kernel/normalform.js';
import { failed, usageFault } from './exit.js';
import { oneLine, plainText } from './text.js';

export interface Named {
  id: string;
  name: string;
  /** Whether it ships with Adjutant. One of the user's own with its name comes first. */
  isShipped?: boolean;
  /** Distinguishes it from others of its name: `waiting, 2 hours ago`. */
  about?: string;
  /** Of the organization that it belongs to. */
  orgId?: unknown;
}

export interface NamePage {
  rows: Named[];
  nextCursor: string | null;
}

export interface NamedKind {
  /** `hook`: the prefix of its ids. */
  noun: string;
  /** Word for messages. Defaults to the noun. */
  called?: string;
  /** Command that lists them: `hooks list`. */
  listed: string;
  page(cursor: string | undefined): Promise<NamePage>;
  /** Maximum number of pages to read, for lists that grow endlessly. Defaults to all. */
  pages?: number;
  /** Finds rows that the list leaves out, if none in it matches. */
  beyond?(): Promise<Named[]>;
  /** A line of the error that explains how to identify the others. */
  hint?: string;
  /** Slugs of the organizations by ID, for rows that may belong to one. */
  slugs?(): Promise<Map<string, string>>;
}

/** Pages to search in lists that grow endlessly: a typed name was listed recently. */
export const NEWEST_PAGES = 5;

const MIN_TAIL_LENGTH = 6;

/**
 * Resolves a full id, its last six or more characters, or a name. Throws if there is none, or if
 * there are several.
 */
export const resolveId = async (typed: string, kind: NamedKind): Promise<string> => {
  if (new RegExp(`^${kind.noun}_[0-9a-z]{26}$`).test(typed)) return typed;
  const { all, isCut } = await everything(kind);
  const listed = meantBy(typed, all);
  const found = listed.length > 0 ? listed : meantBy(typed, (await kind.beyond?.()) ?? []);
  const [only] = found;
  if (found.length > 1) throw ambiguous(typed, await withOwners(found, kind));
  if (only) return only.id;
  const meant = nearest(
    typed,
    all.map(({ name }) => name),
  );
  const question = meant ? ` Did you mean: ${oneLine(meant)}` : '';
  const where = isCut ? ` of the newest ${all.length}` : '';
  const what = `No ${kind.called ?? kind.noun}${where} has the name or id "${oneLine(typed)}".${question}`;
  const whole = [
    ...(isCut ? ['An older item needs the full id.'] : []),
    ...(kind.hint === undefined ? [] : [kind.hint]),
  ];
  throw failed(what, ...whole, `List them: adjutant ${kind.listed}`);
};

/**
 * The row of that id; otherwise those of that name, the user's own before others, and those whose
 * id ends with it. A name does not take precedence over the end of an id, because other users may
 * have set it.
 */
const meantBy = (typed: string, all: Named[]): Named[] => {
  const whole = all.filter(({ id }) => id === typed);
  if (whole.length > 0) return whole;
  const named = all.filter(({ name }) => isSameName(name, typed));
  const own = named.filter(({ isShipped }) => !isShipped);
  const byName = own.length > 0 ? own : named;
  return all.filter((each) => byName.includes(each) || isTail(typed, each.id));
};

const isTail = (typed: string, id: string): boolean =>
  typed.length >= MIN_TAIL_LENGTH && id.endsWith(typed.toLowerCase());

const everything = async ({
  page,
  pages = Number.POSITIVE_INFINITY,
}: NamedKind): Promise<{ all: Named[]; isCut: boolean }> => {
  const all: Named[] = [];
  let cursor: string | undefined;
  for (let read = 0; read < pages; read++) {
    const { rows, nextCursor } = await page(cursor);
    all.push(...rows);
    if (nextCursor === null) return { all, isCut: false };
    cursor = nextCursor;
  }
  return { all, isCut: true };
};

/** Distinguishes rows of one name by their organizations, if one of them belongs to one. */
const withOwners = async (found: Named[], { slugs }: NamedKind): Promise<Named[]> => {
  if (!slugs || found.every(({ orgId }) => typeof orgId !== 'string')) return found;
  const bySlug = await slugs();
  return found.map((row) => {
    const id = plainText(row.orgId);
    const owner = id === '' ? 'yours' : `of ${bySlug.get(id) ?? id}`;
    return { ...row, about: row.about === undefined ? owner : `${owner}, ${row.about}` };
  });
};

const ambiguous = (typed: string, found: Named[]): Error =>
  usageFault(
    `"${oneLine(typed)}" is ambiguous: ${found.length} matches. Type more of the id:`,
    ...found.slice(0, 10).map(({ id, name, about }) => {
      const parts = [id, oneLine(name), ...(about === undefined ? [] : [about])];
      return `  ${parts.join('  ')}`;
    }),
    ...(found.length > 10 ? ['  …'] : []),
  );
