import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectSchema } from 'joi';
import { isReadAloud } from '../src/client/session.js';
import type { Column } from './columns.js';
import { type ArgsOf, type Command, command, on } from './command.js';
import type { Context } from './context.js';
import { fieldsOf, requestFrom } from './fields.js';

interface Query {
  cursor?: string;
}
type Reply<K extends string, T> = Record<K, T[]> & { nextCursor: string | null };
type Read<K extends string, T, Q> = (query: Q) => Promise<Reply<K, T>>;

/** A verb that lists. */
export interface Listing<K extends string, T extends object, Q extends Query, A extends string> {
  name: string;
  args: A;
  summary: string;
  examples: string[];
  query: ObjectSchema<Q>;
  /** Where the rows are in the reply. */
  key: K;
  columns: Column<T>[];
  /** Finds what the arguments name, once; what it gives reads one page. */
  open(context: Context, args: ArgsOf<A>): Promise<Read<K, T, Q>>;
  /** What to do next with what is there, or where there is nothing. */
  next(rows: T[], args: ArgsOf<A>): string | undefined;
  seeAlso?: string;
}

const WATCH_MS = 2000;
const CLEAR = '\u001b[H\u001b[2J';

/** The command of a list: its filters from the contract, `--all` pages, `--watch`. */
export const listing = <
  K extends string,
  T extends object,
  Q extends Query,
  const A extends string,
>(
  of: Listing<K, T, Q, A>,
): Command<A> =>
  command({
    name: of.name,
    args: of.args,
    summary: of.summary,
    examples: of.examples,
    fields: () => fieldsOf(of.query),
    flags: { all: on('Every page, not the first alone'), watch: on('Again every two seconds') },
    seeAlso: of.seeAlso,
    run: async (context, { args, flags, fields }) => {
      const query = await requestFrom(of.query, { fields }, context.at);
      const page = await of.open(context, args);
      const read = () => (flags.all ? everyPage(of.key, query, page) : page(query));
      const show = (reply: Reply<K, T>) => {
        const rows: T[] = reply[of.key];
        context.out.page({ reply, rows, columns: of.columns });
        if (context.out.format !== 'table') return;
        if (reply.nextCursor) context.out.note('There are more: add --all, or --limit 200.');
        const next = of.next(rows, args);
        if (next) context.out.note(next);
      };
      if (!flags.watch) show(await read());
      else if (context.out.format === 'table' && !isReadAloud()) await redraw(context, read, show);
      else await append(context, of, read);
    },
  });

const everyPage = async <K extends string, T, Q extends Query>(
  key: K,
  query: Q,
  read: Read<K, T, Q>,
): Promise<Reply<K, T>> => {
  const first = await read(query);
  const rows = [...first[key]];
  let cursor = first.nextCursor;
  while (cursor !== null) {
    const page = await read({ ...query, cursor });
    rows.push(...page[key]);
    cursor = page.nextCursor;
  }
  return { ...first, [key]: rows, nextCursor: null };
};

const redraw = async <R>(
  context: Context,
  read: () => Promise<R>,
  show: (reply: R) => void,
): Promise<never> => {
  for (;;) {
    const reply = await read();
    context.out.line(CLEAR);
    show(reply);
    await pause(WATCH_MS, undefined, { signal: context.signal });
  }
};

/** In a pipe, or read aloud, a row comes when it is new or has changed, the oldest first. */
const append = async <K extends string, T extends object>(
  context: Context,
  { key, columns }: { key: K; columns: Column<T>[] },
  read: () => Promise<Reply<K, T>>,
): Promise<never> => {
  let before = new Set<string>();
  for (;;) {
    const rows: T[] = (await read())[key];
    const news = rows.filter((row) => !before.has(JSON.stringify(row)));
    for (const row of news.reverse()) context.out.item(row, columns);
    before = new Set(rows.map((row) => JSON.stringify(row)));
    await pause(WATCH_MS, undefined, { signal: context.signal });
  }
};
