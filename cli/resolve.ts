import { failed, usage } from './exit.js';
import { nearest } from './nearest.js';
import { oneLine } from './text.js';

export interface Named {
  id: string;
  name: string;
}

export interface Kind {
  /** `hook`; its ids begin with it. */
  noun: string;
  /** What a person calls it; default: the noun. */
  called?: string;
  /** The command that lists them: `hooks list`. */
  listed: string;
  /** One page of all there are. */
  page(cursor: string | undefined): Promise<{ rows: Named[]; nextCursor: string | null }>;
}

const SHORTEST_TAIL = 6;

/**
 * The id that was meant by a full id, its last six or more characters, or a name. Failed: there is
 * none. Usage: there are several, which are named.
 */
export const idOf = async (typed: string, kind: Kind): Promise<string> => {
  if (new RegExp(`^${kind.noun}_[0-9a-z]{26}$`).test(typed)) return typed;
  const all = await everything(kind);
  const byName = all.filter(({ name }) => name === typed);
  const found = byName.length > 0 ? byName : all.filter(({ id }) => isTail(typed, id));
  const [only] = found;
  if (found.length > 1) throw ambiguous(typed, found);
  if (only) return only.id;
  const meant = nearest(
    typed,
    all.map(({ name }) => name),
  );
  const question = meant ? ` Did you mean: ${oneLine(meant)}` : '';
  const what = `No ${kind.called ?? kind.noun} has the name or id "${oneLine(typed)}".${question}`;
  throw failed(what, `See what there is: adjutant ${kind.listed}`);
};

const isTail = (typed: string, id: string): boolean =>
  typed.length >= SHORTEST_TAIL && id.endsWith(typed.toLowerCase());

const everything = async ({ page }: Kind): Promise<Named[]> => {
  const all: Named[] = [];
  let cursor: string | undefined;
  do {
    const { rows, nextCursor } = await page(cursor);
    all.push(...rows);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
};

const ambiguous = (typed: string, found: Named[]): Error =>
  usage(
    `"${oneLine(typed)}" may mean ${found.length} things. Give more of the id:`,
    ...found.slice(0, 10).map(({ id, name }) => `  ${id}  ${oneLine(name)}`),
    ...(found.length > 10 ? ['  …'] : []),
  );
