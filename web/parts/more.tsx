import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Loaded, useLoad } from '../state/load.js';
import { Button, useAction } from './action.js';
import { Failure } from './notes.js';
import { Show } from './show.js';

/** Rows in order, and the cursor of the next ones. */
interface LoadedRows<T> {
  rows: T[];
  nextCursor: string | null;
}

interface PagedSource<T> {
  /** Identifies the loaded data: the filter. */
  key: string;
  load(query: { limit: number; cursor?: string }, signal?: AbortSignal): Promise<LoadedRows<T>>;
  /** Topics of `/ws` whose events change the list. */
  topics?: readonly string[];
  /** Whether an event on those topics changes the list. Defaults to every event. */
  concerns?(event: unknown): boolean;
}

export interface PagedList<T> extends Loaded<LoadedRows<T>> {
  more(): Promise<void>;
}

const PAGE = 30;
/** Maximum rows of one request. */
const MAX_PAGE = 200;

/**
 * Hook: a paginated list. When an event reports a change, the shown rows are reloaded, up to 200.
 * Later rows stay unchanged.
 */
export const usePaged = <T extends { id: string }>(source: PagedSource<T>): PagedList<T> => {
  const { key, load, topics, concerns } = source;
  const shown = useRef<{ key: string; list: LoadedRows<T> | null }>({ key, list: null });
  const list = useLoad({
    key,
    topics,
    concerns,
    load: async (signal) => {
      const before = shown.current.key === key ? shown.current.list : null;
      const wanted = Math.max(PAGE, before?.rows.length ?? 0);
      const newest = await load({ limit: Math.min(wanted, MAX_PAGE) }, signal);
      return before ? joined(newest, before) : newest;
    },
  });
  shown.current = { key, list: list.data };
  const more = async (): Promise<void> => {
    const cursor = list.data?.nextCursor;
    if (!cursor) return;
    const next = await load({ limit: PAGE, cursor });
    const now = shown.current;
    if (now.key !== key || now.list?.nextCursor !== cursor) return;
    list.replace({
      rows: withoutDoubles([...now.list.rows, ...next.rows]),
      nextCursor: next.nextCursor,
    });
  };
  return { ...list, more };
};

/** Puts previously shown rows after the reloaded ones. */
const joined = <T extends { id: string }>(
  newest: LoadedRows<T>,
  before: LoadedRows<T>,
): LoadedRows<T> => {
  if (newest.nextCursor === null) return newest;
  const last = newest.rows.at(-1)?.id;
  const end = before.rows.findIndex(({ id }) => id === last);
  const behind = end < 0 ? [] : before.rows.slice(end + 1);
  if (behind.length === 0) return newest;
  return { rows: withoutDoubles([...newest.rows, ...behind]), nextCursor: before.nextCursor };
};

const withoutDoubles = <T extends { id: string }>(rows: T[]): T[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
];

/** Rows as cards, with a button that loads more. */
export const Cards = <T extends { id: string }>({
  of,
  what,
  empty,
  children,
}: {
  of: PagedList<T>;
  /** Plural noun of the rows: `executions`. */
  what: string;
  /** Shown if the list is empty. */
  empty: ComponentChildren;
  children(row: T): ComponentChildren;
}) => (
  <Show of={of} what={what}>
    {({ rows, nextCursor }) =>
      rows.length === 0 ? (
        empty
      ) : (
        <>
          <CardList rows={rows}>{children}</CardList>
          {nextCursor !== null && <More more={of.more} shown={rows.length} what={what} />}
        </>
      )
    }
  </Show>
);

/** The focus goes to the first row that "Show more" has added. */
const CardList = <T extends { id: string }>({
  rows,
  children,
}: {
  rows: T[];
  children(row: T): ComponentChildren;
}) => {
  const list = useRef<HTMLUListElement>(null);
  const last = useRef<string | undefined>(undefined);
  const end = rows.at(-1)?.id;
  useEffect(() => {
    const before = rows.findIndex(({ id }) => id === last.current);
    last.current = end;
    const added = before < 0 ? undefined : list.current?.children[before + 1];
    const isLost = document.activeElement === document.body;
    if (isLost && added instanceof HTMLElement) added.focus();
  }, [rows, end]);
  return (
    <ul class="cards" ref={list}>
      {rows.map((row) => (
        <li key={row.id} class="card" tabIndex={-1}>
          {children(row)}
        </li>
      ))}
    </ul>
  );
};

const More = ({ more, shown, what }: { more(): Promise<void>; shown: number; what: string }) => {
  const action = useAction();
  return (
    <>
      {action.error && <Failure error={action.error} />}
      <div class="buttons">
        <Button action={action} work={more}>
          Show more
        </Button>
      </div>
      <p class="muted" role="status">
        Showing {shown} {what}.
      </p>
    </>
  );
};
