import { type Clock, iso } from '../../kernel/clock.js';
import { markOf } from '../../providers/tunnels/child.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { type Store, statement, unlessUnmet } from '../../store/store.js';
import type { TunnelReachRow, TunnelRow } from '../../store/tables/tunnel.js';

/** The configuration of the tunnel, in the database with a copy in memory. */
export interface TunnelState {
  read(): Promise<void>;
  row(): TunnelRow | null;
  /** Returns the result of the last check of the address; null if there was none. */
  reach(): TunnelReachRow | null;
  keepReach(reach: Omit<TunnelReachRow, 'id'>): Promise<void>;
  /**
   * Switches the tunnel off and forgets its permanent address. Resolves to false if nothing is set
   * up.
   */
  forgetAddress(also: TransactionStep[]): Promise<boolean>;
  /** Replaces the configuration, with the steps in the same transaction. */
  replace(next: TunnelRow, also: TransactionStep[]): Promise<void>;
  /** Switches the tunnel on or off. Resolves to false if nothing is set up. */
  turn(isOn: boolean, also: TransactionStep[]): Promise<boolean>;
  /** Stores the process of the tunnel so that the next start finds it; null if there is none. */
  keepProcess(pid: number | null): Promise<void>;
}

export const createKept = (store: Store, clock: Clock): TunnelState => {
  const { db } = store;
  let row: TunnelRow | null = null;
  let reach: TunnelReachRow | null = null;
  const unchecked = statement(db.deleteFrom('tunnel_reach'));
  const read = async (): Promise<void> => {
    row = (await db.selectFrom('tunnel').selectAll().executeTakeFirst()) ?? null;
    reach = (await db.selectFrom('tunnel_reach').selectAll().executeTakeFirst()) ?? null;
  };
  const change = async (changes: Partial<TunnelRow>, also: TransactionStep[]): Promise<boolean> => {
    const set = { ...changes, updated_at: iso(clock.now()) };
    const changed = statement(db.updateTable('tunnel').set(set), 1);
    const isDone = await unlessUnmet(store.transact([changed, ...also]));
    if (isDone) await read();
    return isDone;
  };
  return {
    read,
    row: () => row,
    reach: () => reach,
    keepReach: async (given) => {
      const insert = db.insertInto('tunnel_reach').values({ id: 'reach', ...given });
      await insert.onConflict((on) => on.column('id').doUpdateSet(given)).execute();
      reach = { id: 'reach', ...given };
    },
    forgetAddress: (also) => change({ public_url: null, is_on: 0 }, [unchecked, ...also]),
    replace: async (next, also) => {
      const { id: _, process: __, ...changes } = next;
      const insert = db.insertInto('tunnel').values({ ...next, process: null });
      const replaced = insert.onConflict((on) => on.column('id').doUpdateSet(changes));
      // A changed address needs no reset here, since the stored check names the address that it
      // checked.
      const isSameWay = row?.provider === next.provider && row.settings === next.settings;
      await store.transact([statement(replaced), ...(isSameWay ? [] : [unchecked]), ...also]);
      await read();
    },
    turn: (isOn, also) => change({ is_on: isOn ? 1 : 0 }, also),
    keepProcess: async (pid) => {
      const mark = pid === null ? null : await markOf(pid);
      const process = mark && JSON.stringify(mark);
      await db.updateTable('tunnel').set({ process }).execute();
    },
  };
};
