import { nearest } from '../src/kernel/nearest.js';
import { isSameName } from '../src/kernel/normalform.js';
import { failed, usageFault } from './exit.js';
import { oneLine } from './text.js';

export interface Named {
  id: string;
  name: string;
  /** True for one that ships with Adjutant: one of the user's own with its name comes first. */
  isShipped?: boolean;
  /** Tells it from others of its name: `waiting, 2 hours ago`. */
  about?: string;
}

export interface NamePage {
  rows: Named[];
  nextCursor: string | null;
}

export interface NamedKind {
  /** `hook`; its ids begin with it. */
  noun: string;
  /** The word for a person; default: the noun. */
  called?: string;
  /** The command that lists them: `hooks list`. */
  listed: string;
  /** One page of all there are. */
  page(cursor: string | undefined): Promise<NamePage>;
  /** Most pages that are read, for lists that grow without end; default: all. */
  pages?: number;
  /** Finds things that the list leaves out, asked once nothing in it was meant. */
  beyond?(): Promise<Named[]>;
  /** A line for an error: how things are named that were not found. */
  hint?: string;
}

/**
 * The number of pages that are searched in lists that grow without end: what is typed was listed
 * recently.
 */
export const NEWEST_PAGES = 5;

const MIN_TAIL_LENGTH = 6;

/**
 * The id that was meant by a full id, its last six or more characters, or a name. Failed: there is
 * none. Usage: there are several, which are named.
 */
export const resolveId = async (typed: string, kind: NamedKind): Promise<string> => {
  if (new RegExp(`^${kind.noun}_[0-9a-z]{26}$`).test(typed)) return typed;
  const { all, isCut } = await everything(kind);
  const listed = meantBy(typed, all);
  const found = listed.length > 0 ? listed : meantBy(typed, (await kind.beyond?.()) ?? []);
  const [only] = found;
  if (found.length > 1) throw ambiguous(typed, found);
  if (only) return only.id;
  const meant = nearest(
    typed,
    all.map(({ name }) => name),
  );
  const question = meant ? ` Did you mean: ${oneLine(meant)}` : '';
  const where = isCut ? ` of the newest ${all.length}` : '';
  const what = `No ${kind.called ?? kind.noun}${where} has the name or id "${oneLine(typed)}".${question}`;
  const whole = [
    ...(isCut ? ['An older one takes its whole id.'] : []),
    ...(kind.hint === undefined ? [] : [kind.hint]),
  ];
  throw failed(what, ...whole, `See what there is: adjutant ${kind.listed}`);
};

/**
 * The thing of that id; else those of that name, one's own before others, and those whose id ends so.
 * A name does not go before the end of an id, since others than the user may have given it.
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

const ambiguous = (typed: string, found: Named[]): Error =>
  usageFault(
    `"${oneLine(typed)}" may mean ${found.length} things. Give more of the id:`,
    ...found.slice(0, 10).map(({ id, name, about }) => {
      const parts = [id, oneLine(name), ...(about === undefined ? [] : [about])];
      return `  ${parts.join('  ')}`;
    }),
    ...(found.length > 10 ? ['  …'] : []),
  );
