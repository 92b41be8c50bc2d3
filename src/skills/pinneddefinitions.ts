import { createHash } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { canonical } from '../kernel/jsonvalue.js';
import type { Definition } from '../providers/mcp/definition.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import { type McpPinRow, mcpPinTable } from '../store/tables/skills.js';

/** Accepted and last offered definition of a tool. */
export interface Pin {
  tool: string;
  pinned: Definition | null;
  /** Null if the server no longer offers the tool. */
  offered: Definition | null;
}

export const isQuarantined = ({ pinned, offered }: Pin): boolean =>
  offered !== null && (pinned === null || !isSame(pinned, offered));

/** SHA-256 in hex, so that exactly the reviewed definitions are accepted. */
export const pinsDigest = (server: string, pins: Pin[]): string =>
  createHash('sha256')
    .update(canonical([server, ...pins.filter(isQuarantined).map(({ offered }) => offered)]))
    .digest('hex');

const isSame = (one: Definition, other: Definition): boolean => canonical(one) === canonical(other);

/** Adding a server accepts its definitions. Later changes require an admin. */
export const createPins = ({ store, clock }: { store: Store; clock: Clock }) => {
  const { db } = store;
  const known = new Map<string, Map<string, McpPinRow>>();
  let last: Promise<unknown> = Promise.resolve();

  /** Serializes changes of `known` and its tables. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };

  const pinsOf = (server: string): Pin[] =>
    [...(known.get(server)?.values() ?? [])].map(parsePinRow);

  const keep = async (
    server: string,
    rows: McpPinRow[],
    steps: TransactionStep[],
  ): Promise<void> => {
    const listing = { server, listed_at: iso(clock.now()) };
    const added = db
      .insertInto('mcp_listings')
      .values(listing)
      .onConflict((on) => on.doNothing());
    const kept = rows.map((row) => {
      const { server: _, tool: __, ...rest } = row;
      const key = ['server', 'tool'] as const;
      return db
        .insertInto('mcp_pins')
        .values(row)
        .onConflict((on) => on.columns(key).doUpdateSet(rest));
    });
    await store.transact([statement(added), ...kept.map((one) => statement(one)), ...steps]);
    const before = known.get(server) ?? new Map<string, McpPinRow>();
    known.set(server, new Map([...before, ...rows.map((row) => [row.tool, row] as const)]));
  };

  return {
    load: async (): Promise<void> => {
      const [listings, rows] = await Promise.all([
        db.selectFrom('mcp_listings').select('server').execute(),
        db.selectFrom('mcp_pins').select(mcpPinTable.columns).execute(),
      ]);
      for (const { server } of listings) known.set(server, new Map());
      for (const row of rows) known.get(row.server)?.set(row.tool, row);
    },
    /** Whether the tools of the server have ever been listed. */
    isKnown: (server: string): boolean => known.has(server),
    of: pinsOf,
    isPinned: (server: string, definition: Definition): boolean =>
      known.get(server)?.get(definition.name)?.pinned === canonical(definition),
    observe: (server: string, offered: Definition[]): Promise<boolean> =>
      alone(async () => {
        const rows = changed(server, known.get(server), offered, iso(clock.now()));
        const isNews = rows.length > 0 || !known.has(server);
        if (isNews) await keep(server, rows, []);
        return isNews;
      }),
    /** `also` returns steps for the same transaction, or throws. */
    accept: (server: string, by: string, also: (pins: Pin[]) => TransactionStep[]): Promise<void> =>
      alone(async () => {
        const steps = also(pinsOf(server));
        const accepted = { accepted_by: by, accepted_at: iso(clock.now()) };
        const rows = [...(known.get(server)?.values() ?? [])]
          .filter((row) => isQuarantined(parsePinRow(row)))
          .map((row) => ({ ...row, pinned: row.offered, ...accepted }));
        await keep(server, rows, steps);
      }),
    forget: (server: string, also: TransactionStep[]): Promise<void> =>
      alone(async () => {
        const gone = db.deleteFrom('mcp_listings').where('server', '=', server);
        await store.transact([statement(gone), ...also]);
        known.delete(server);
      }),
  };
};

/** The first definitions of a server are accepted. */
const changed = (
  server: string,
  before: Map<string, McpPinRow> | undefined,
  offered: Definition[],
  at: string,
): McpPinRow[] => {
  const now = new Map(offered.map((definition) => [definition.name, canonical(definition)]));
  const fresh = [...now].map(([tool, text]): McpPinRow => {
    const row = before?.get(tool);
    if (row) return { ...row, offered: text };
    const accepted = before ? null : { pinned: text, accepted_at: at };
    return {
      server,
      tool,
      pinned: null,
      offered: text,
      accepted_by: null,
      accepted_at: null,
      ...accepted,
    };
  });
  const gone = [...(before?.values() ?? [])]
    .filter(({ tool, pinned }) => !now.has(tool) && pinned !== null)
    .map((row) => ({ ...row, offered: null }));
  return [...fresh, ...gone].filter((row) => row.offered !== before?.get(row.tool)?.offered);
};

const parsePinRow = ({ tool, pinned, offered }: McpPinRow): Pin => ({
  tool,
  pinned: pinned === null ? null : JSON.parse(pinned),
  offered: offered === null ? null : JSON.parse(offered),
});
