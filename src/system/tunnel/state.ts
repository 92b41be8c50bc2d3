import type { Base } from '../../base.js';
import type { ProxyTrust } from '../../kernel/clientaddress.js';
import { iso } from '../../kernel/clock.js';
import { readProcessMark } from '../../providers/tunnels/child.js';
import { getAddressHeader } from '../../providers/tunnels/providers.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { isCommitted, statement } from '../../store/store.js';
import type { TunnelReachRow, TunnelRow } from '../../store/tables/tunnel.js';

export const createTunnelState = ({ store, clock }: Base, fixedUrl: string | null) => {
  const { db } = store;
  let row: TunnelRow | null = null;
  let reach: TunnelReachRow | null = null;
  const unchecked = statement(db.deleteFrom('tunnel_reach'));
  const read = async (): Promise<void> => {
    row = (await db.selectFrom('tunnel').selectAll().executeTakeFirst()) ?? null;
    reach = (await db.selectFrom('tunnel_reach').selectAll().executeTakeFirst()) ?? null;
  };
  return {
    read,
    row: () => row,
    /** The permanent address as an origin; null if there is none. */
    publicUrl: (): string | null => fixedUrl ?? row?.public_url ?? null,
    trust: (): ProxyTrust['tunnel'] =>
      row?.is_on === 1 ? { header: getAddressHeader(row.provider) } : null,
    reach: () => reach,
    keepReach: async (check: Omit<TunnelReachRow, 'id'>): Promise<void> => {
      const next: TunnelReachRow = { id: 'reach', ...check };
      const insert = db.insertInto('tunnel_reach').values(next);
      await insert.onConflict((on) => on.column('id').doUpdateSet(check)).execute();
      reach = next;
    },
    replace: async (next: TunnelRow, also: TransactionStep[]): Promise<void> => {
      const { id: _, process: __, ...changes } = next;
      const insert = db.insertInto('tunnel').values({ ...next, process: null });
      const replaced = insert.onConflict((on) => on.column('id').doUpdateSet(changes));
      // A new address needs no reset, since the stored check contains the address that it checked.
      const isSameWay = row?.provider === next.provider && row.settings === next.settings;
      await store.transact([statement(replaced), ...(isSameWay ? [] : [unchecked]), ...also]);
      await read();
    },
    /** Resolves to false if no tunnel is set up. */
    change: async (changes: Partial<TunnelRow>, also: TransactionStep[]): Promise<boolean> => {
      const set = { ...changes, updated_at: iso(clock.now()) };
      const changed = statement(db.updateTable('tunnel').set(set), 1);
      const forgotten = changes.public_url === null ? [unchecked] : [];
      const isSetUp = await isCommitted(store.transact([changed, ...forgotten, ...also]));
      if (isSetUp) await read();
      return isSetUp;
    },
    /** Stored so that the next start finds the process; null if there is none. */
    keepProcess: async (pid: number | null): Promise<void> => {
      const mark = pid === null ? null : await readProcessMark(pid);
      const process = mark && JSON.stringify(mark);
      await db.updateTable('tunnel').set({ process }).execute();
    },
  };
};

export type TunnelState = ReturnType<typeof createTunnelState>;
